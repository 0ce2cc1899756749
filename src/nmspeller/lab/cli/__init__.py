"""`nmspeller lab`: the commands of the laboratory, assembled here. Most need the `train` extra."""

import typer

from nmspeller.lab.cli import bench, data, experiment, export, training

app = typer.Typer(
    help="The laboratory: prepare data, train, run the paper's experiments, export.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(data.app, name="data")
app.command("pretrain")(training.pretrain)
app.command("train")(training.train)
app.command("average")(training.average)
app.command("experiment")(experiment.experiment)
app.command("prepare-qat")(export.prepare_qat)
app.command("prune")(export.prune)
app.command("export")(export.export)
app.command("calibrate")(export.calibrate)
app.command("prefilter")(export.prefilter)
app.command("import-onnx")(export.import_onnx)
app.command("bench")(bench.train)
