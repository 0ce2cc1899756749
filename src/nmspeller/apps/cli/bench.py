"""`nmspeller bench`"""

import json
from pathlib import Path

import typer

app = typer.Typer(help="Benchmarks.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    pass


@app.command("train")
def train(
    seconds: float = typer.Option(30.0, min=0.1, help="How long to train."),
    data: Path | None = typer.Option(
        None, help="A prepared folder, to read and misspell its text too; random ids if not given."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Tokens a second in training BERT-base, and the share of the device's bf16 peak that it means."""
    from nmspeller.apps.cli.laboratory import need_training

    need_training()
    from nmspeller.training.benchmark import measure_training

    found = measure_training(seconds=seconds, data=data)
    if as_json:
        typer.echo(json.dumps(found))
        return
    share, peak = 100 * found["share_of_peak"], found["peak_operations_per_second"] / 1e12
    typer.echo(
        f"{found['device']}: {found['tokens_per_second']:,.0f} tokens/s, {share:.0f} % of the {peak:,.1f} "
        "TFLOP/s that a large bf16 product reaches."
    )
