"""`nmspeller lab export`, `calibrate`, `prefilter`, `import-onnx`, `prepare-qat` and `prune`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nmspeller.errors import InputError
from nmspeller.lab.cli.output import OUTPUT_FORMAT, OutputFormat

if TYPE_CHECKING:
    from nmspeller.lab.data.pairs import Pairs

_TEXTS = typer.Option(
    [],
    help="Sentences to fit the integers to: a text file, or pairs, of which the sources are read. "
    "A checkpoint that is rounded needs none.",
)
_DEV_HELP = "Pairs that no training saw, to calibrate the three levels on."
_CLEAN = typer.Option([], help="Clean sentences that no training saw, which must stay as they are.")


def export(
    checkpoint: Path = typer.Argument(
        ..., help="A checkpoint folder, or a Hugging Face BertForMaskedLM folder."
    ),
    out: Path = typer.Argument(..., help="The folder to write."),
    texts: list[Path] = _TEXTS,
    full: bool = typer.Option(False, "--float", help="Stay in single precision: exact, large and slow."),
    dev: list[Path] = typer.Option([], help=_DEV_HELP),
    clean: list[Path] = _CLEAN,
    parity: list[Path] = typer.Option([], help="Pairs on which to compare with the checkpoint on PyTorch."),
    output_format: OutputFormat = OUTPUT_FORMAT,
) -> None:
    """Turn a trained checkpoint into the ONNX folder that the speller loads."""
    _need_onnx()
    from nmspeller.lab.export.export import calibrate_model, export_model
    from nmspeller.lab.export.weights import is_fake_quantised

    if is_fake_quantised(checkpoint):
        if full:
            raise InputError(f"{checkpoint} is rounded and becomes integers; leave out --float.")
    elif not full and not texts:
        raise InputError(
            "give --texts, sentences to fit the integers to, or --float to stay in single precision."
        )
    elif full and texts:
        raise InputError("single precision is not fitted to any texts; leave out --texts, or --float.")
    if clean and not dev:
        raise InputError("the levels are calibrated on --dev, with --clean beside it; give --dev too.")
    # All files are read before anything is written: a mistake in one is better found before the work.
    pairs = [pair for path in dev for pair in _pairs(path)]
    unchanged, compared = _sentences(clean), [pair.source for path in parity for pair in _pairs(path)]
    export_model(checkpoint, out, texts=_sentences(texts) if texts else None)
    report: dict[str, object] = {"model": str(out), "bytes": (out / "model.onnx").stat().st_size}
    if dev:
        report["policy"] = calibrate_model(out, pairs, unchanged).calibration
    if parity:
        report["parity"] = _parity(checkpoint, out, compared)
    _print(report, output_format)


def calibrate(
    model: Path = typer.Argument(..., help="An exported folder, whose policy.json is written anew."),
    dev: list[Path] = typer.Option(..., help=_DEV_HELP),
    clean: list[Path] = _CLEAN,
    edits: Path | None = typer.Option(
        None,
        metavar="PREPARED",
        help="What `lab data prepare` wrote, with its dev pairs of missing, extra and swapped characters: "
        "to fit the weights and choose the thresholds of a model that tags these.",
    ),
    others: list[Path] = typer.Option(
        [], help="Pairs of other kinds, on which the number of passes is chosen, too."
    ),
    prefilter: bool = typer.Option(
        False,
        "--prefilter",
        help="Those of its prefilter instead, which depend on the levels.",
    ),
    output_format: OutputFormat = OUTPUT_FORMAT,
) -> None:
    """Choose the thresholds of an exported model again; its weights stay as they are."""
    _need_onnx()
    from nmspeller.lab.export import export

    if prefilter and edits:
        raise InputError("a prefilter has no tags; leave out --edits, or --prefilter.")
    if prefilter and others:
        raise InputError("a prefilter has no passes of its own; leave out --others, or --prefilter.")
    pairs, unchanged = [pair for path in dev for pair in _pairs(path)], _sentences(clean)
    if prefilter:
        report = export.calibrate_prefilter_model(model, pairs, unchanged).calibration
    else:
        further = [pair for path in others for pair in _pairs(path)]
        sets = export.EditSets.of(edits) if edits else None
        report = export.calibrate_model(model, pairs, unchanged, sets, further).calibration
    _print(report, output_format)


def prefilter(
    checkpoint: Path = typer.Argument(
        ..., help="A very small speller: a checkpoint folder, or a Hugging Face one."
    ),
    model: Path = typer.Argument(..., help="An exported folder of the same vocabulary, to add it to."),
    texts: list[Path] = _TEXTS,
    dev: list[Path] = typer.Option(..., help="Pairs that no training saw, whose errors must still be found."),
    clean: list[Path] = typer.Option([], help="Clean sentences, to tell how many of them are still read."),
    output_format: OutputFormat = OUTPUT_FORMAT,
) -> None:
    """Add a prefilter to an exported model: a small speller that tells it which windows to read."""
    _need_onnx()
    from nmspeller.lab.export.export import calibrate_prefilter_model, export_prefilter
    from nmspeller.lab.export.weights import is_fake_quantised

    if not texts and not is_fake_quantised(checkpoint):
        raise InputError("give --texts, sentences to fit the integers to.")
    pairs, unchanged = [pair for path in dev for pair in _pairs(path)], _sentences(clean)
    written = export_prefilter(checkpoint, model, texts=_sentences(texts) if texts else None)
    thresholds = calibrate_prefilter_model(model, pairs, unchanged)
    report: dict[str, object] = {"prefilter": str(written), "bytes": written.stat().st_size}
    for level, threshold in thresholds.levels.items():
        report[level.value] = {"threshold": threshold, **thresholds.calibration["levels"][level.value]}
    _print(report, output_format)


def import_onnx(
    model: Path | None = typer.Argument(
        None, help="An exported folder; the shipped model if not given.", show_default=False
    ),
    out: Path = typer.Option(..., help="The checkpoint folder to write, for --start of `train`."),
    prefilter: bool = typer.Option(False, "--prefilter", help="Its prefilter instead of the model itself."),
) -> None:
    """Turn an exported model back into a checkpoint, to train on from it."""
    _need_onnx()
    from nmspeller.lab.export import conversion
    from nmspeller.runtime.pipeline import SHIPPED

    read = conversion.import_prefilter if prefilter else conversion.import_onnx
    typer.echo(read(model or SHIPPED, out))


def prepare_qat(
    checkpoint: Path = typer.Argument(..., help="A checkpoint folder, or a Hugging Face one."),
    texts: list[Path] = typer.Option(
        ..., help="Sentences to fit the integers to: a text file, or pairs, of which the sources are read."
    ),
    out: Path = typer.Option(..., help="The checkpoint folder to write, for --start of `train`."),
) -> None:
    """Write a checkpoint that computes as its export in integers would, to be trained on so."""
    _need_onnx()
    from nmspeller.lab.export import conversion

    typer.echo(conversion.prepare_qat(checkpoint, out, _sentences(texts)))


def prune(
    checkpoint: Path = typer.Argument(..., help="A checkpoint folder, or a Hugging Face one."),
    texts: list[Path] = typer.Option(
        ..., help="Some thousand sentences to prune by: a text file, or pairs, of which the sources are read."
    ),
    neurons: int = typer.Option(..., help="How many each feed-forward block keeps."),
    out: Path = typer.Option(..., help="The checkpoint folder to write, for --start of `train`."),
) -> None:
    """Write a smaller checkpoint, to be trained on with the whole one as the teacher."""
    _need_onnx()
    from nmspeller.lab.export import conversion

    typer.echo(conversion.prune_checkpoint(checkpoint, out, _sentences(texts), neurons))


def _need_onnx() -> None:
    try:
        import onnx  # noqa: F401
        import safetensors  # noqa: F401
    except ImportError as error:
        raise InputError(
            f"this needs {error.name}; install it with `pip install 'nmspeller[train]'`."
        ) from error


def _parity(checkpoint: Path, out: Path, texts: list[str]) -> dict[str, object]:
    from nmspeller.lab.export.parity import checkpoint_pipeline, compare
    from nmspeller.lab.export.text_parts import answers
    from nmspeller.runtime.pipeline import Pipeline
    from nmspeller.runtime.policy import Level

    readers = checkpoint_pipeline(checkpoint, out / "policy.json"), Pipeline(out)
    policy = readers[1].policy
    thresholds = policy.levels[Level.BALANCED]
    found = compare(*(answers(pipeline, texts, thresholds, policy.passes) for pipeline in readers))
    return {"sentences": found.sentences, "same_edits": found.same, "percent": round(found.percent, 3)}


def _pairs(path: Path) -> "Pairs":
    from nmspeller.lab.data.pairs import read_pairs

    return read_pairs(path)


def _sentences(paths: list[Path]) -> list[str]:
    from nmspeller.lab.data.sentences import read_sentences

    return [sentence for path in paths for sentence in read_sentences(path)]


def _print(report: Mapping[str, object], output_format: OutputFormat) -> None:
    if output_format is OutputFormat.json:
        typer.echo(json.dumps(report, ensure_ascii=False))
    else:
        typer.echo("\n".join(f"{name}: {value}" for name, value in report.items()))
