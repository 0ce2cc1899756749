"""`nmspeller evaluate`: the scores of a speller on sentence pairs, or on a test of a bake-off."""

import json
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from nmspeller.errors import InputError
from nmspeller.lab.cli.output import OUTPUT_FORMAT, OutputFormat
from nmspeller.lab.data import bakeoff
from nmspeller.lab.data.alignment import laid_out
from nmspeller.lab.data.bakeoff import BakeoffTest
from nmspeller.lab.data.pairs import Pair, read_pairs

if TYPE_CHECKING:
    from nmspeller.lab.evaluation.exact_match import ExactMatch
    from nmspeller.lab.evaluation.metrics import EvaluationScores

_BATCH = 256


class BakeoffFormat(str, Enum):
    """What the input file is; all but `pairs` are the formats of a bake-off."""

    PAIRS = "pairs"
    SIGHAN13 = "sighan13"
    CLP14 = "clp14"
    SIGHAN15 = "sighan15"


def evaluate(
    path: Path = typer.Argument(
        ...,
        metavar="FILE",
        help="source<TAB>target, one pair per line, of equal length or not; or a file of a bake-off, see "
        "--format.",
    ),
    file_format: BakeoffFormat = typer.Option(
        BakeoffFormat.PAIRS,
        "--format",
        help="The bake-off that FILE comes from: its input, or training SGML.",
    ),
    truth: Path | None = typer.Option(None, help="The bake-off's truth file, for a test input."),
    result: Path | None = typer.Option(
        None, help="Write the answers here, in the format of the bake-off's own tool."
    ),
    model: str | None = typer.Option(None, metavar="M", help="A model folder; by default, the shipped one."),
    level: str = typer.Option("balanced", help="careful, balanced or thorough: how sure it must be."),
    drop_de: bool = typer.Option(False, "--drop-de", help="Drop edits to 地 and 得, as is done on SIGHAN13."),
    output_format: OutputFormat = OUTPUT_FORMAT,
) -> None:
    """Measure a speller on sentence pairs, or on a test of a bake-off with its official scores."""
    if file_format is BakeoffFormat.PAIRS:
        if truth or result:
            raise InputError("--truth and --result are for bake-off files; give --format as well.")
        test = _read_pairs(path)
    else:
        test = bakeoff.read_test(path, truth)
    if drop_de and _unequal(test.pairs):
        raise InputError(f"{path} has pairs of unequal length, which --drop-de is not defined for.")
    predictions = dict(zip(test.passages, _correct(list(test.passages.values()), model, level), strict=True))
    if _unequal(test.pairs):
        found = _exact_match(test.pairs, predictions)
        if output_format is OutputFormat.json:
            typer.echo(json.dumps(found.as_dict()))
        else:
            _print_exact_match(found, test.pairs)
        return
    # Without corrections in the truth, only the official tool's scores can be computed.
    scores = _score(test.pairs, predictions, drop_de) if test.pairs else None
    official = (
        _official(test, predictions, file_format, result) if file_format is not BakeoffFormat.PAIRS else {}
    )
    if output_format is OutputFormat.json:
        ours: dict[str, Any] = scores.as_dict() if scores else {"sentences": len(test.passages)}
        typer.echo(json.dumps({**ours, "official": official} if official else ours))
        return
    if scores:
        _print(scores)
    if official:
        _print_official(official)


def _read_pairs(path: Path) -> BakeoffTest:
    pairs = {str(number): pair for number, pair in enumerate(read_pairs(path, equal_length=False), start=1)}
    if not pairs:
        raise InputError(f"{path} has no pairs; there is nothing to measure.")
    return BakeoffTest({name: pair.source for name, pair in pairs.items()}, {}, pairs)


def _official(
    test: BakeoffTest, predictions: dict[str, str], file_format: BakeoffFormat, result: Path | None
) -> dict[str, float]:
    """The scores of the bake-off's own tool by name; the answers are written to `result` where given."""
    from nmspeller.lab.evaluation.bakeoff_scores import OFFICIAL

    answers = {
        name: bakeoff.answer(Pair(source, laid_out(source, predictions[name])))
        for name, source in test.passages.items()
    }
    if result:
        bakeoff.write_answers(result, answers)
    figures = OFFICIAL[file_format.value](test.truth, answers).figures
    return {name: float(figure) for name, figure in figures.items()}


def _correct(sources: list[str], model: str | None, level: str) -> list[str]:
    # The runtime loads only now, so that errors in the input are reported at once.
    from nmspeller import Speller

    speller = Speller(model, level=level, rules=False)
    console = Console(stderr=True)
    batches = [sources[start : start + _BATCH] for start in range(0, len(sources), _BATCH)]
    watched = track(batches, "checking", console=console, disable=not console.is_terminal, transient=True)
    return [correction.text for batch in watched for correction in speller.check_many(batch)]


def _score(pairs: dict[str, Pair], predictions: dict[str, str], drop_de: bool) -> "EvaluationScores":
    # numpy loads only now, so that no other command waits for it.
    from nmspeller.lab.evaluation import metrics

    sources, targets = zip(*pairs.values(), strict=True)
    return metrics.evaluate(sources, targets, [predictions[name] for name in pairs], drop_de=drop_de)


def _unequal(pairs: dict[str, Pair]) -> list[str]:
    """The names of the pairs whose sides differ in length; those of a file of pairs are line numbers."""
    return [name for name, (source, target) in pairs.items() if len(source) != len(target)]


def _exact_match(pairs: dict[str, Pair], predictions: dict[str, str]) -> "ExactMatch":
    from nmspeller.lab.evaluation.exact_match import exact_match

    sources, targets = zip(*pairs.values(), strict=True)
    return exact_match(sources, targets, [predictions[name] for name in pairs])


def _print_exact_match(found: "ExactMatch", pairs: dict[str, Pair]) -> None:
    unequal = _unequal(pairs)
    table = Table(box=None, pad_edge=False, show_header=False)
    for share, whole in (
        (found.corrected, f"of the {found.wrong:,} wrong sentences became wholly right"),
        (found.changed_right, f"of the {found.changed:,} changed sentences are right"),
        (found.changed_clean, f"of the {found.sentences - found.wrong:,} right sentences were changed"),
    ):
        table.add_row(f"{share:.2f} %", whole)
    console = Console()
    console.print(
        f"Sentence-level exact match, since source and target differ in length in {len(unequal):,} of "
        f"{found.sentences:,} pairs, first in line {unequal[0]}:",
        highlight=False,
    )
    console.print(table)


def _print(scores: "EvaluationScores") -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("level")
    table.add_column("task")
    for name in ("precision", "recall", "F1"):
        table.add_column(name, justify="right")
    for level, tasks in (
        ("sentence", scores.sentence),
        ("sentence, loose", scores.sentence_loose),
        ("character", scores.character),
    ):
        for task, figures in (("detection", tasks.detection), ("correction", tasks.correction)):
            percentages = (figures.precision, figures.recall, figures.f1)
            table.add_row(level, task, *(f"{figure:.2f}" for figure in percentages))
    console = Console()
    console.print(table)
    console.print(
        f"{scores.sentences:,} sentences; {scores.detection_accuracy:.2f} % detected and "
        f"{scores.correction_accuracy:.2f} % corrected exactly, or rightly left unchanged; "
        f"{scores.changed_clean:.2f} % of the clean ones were changed.",
        highlight=False,
    )


def _print_official(official: dict[str, float]) -> None:
    table = Table(title="Official scores", title_justify="left", box=None, pad_edge=False, show_header=False)
    for name, figure in official.items():
        table.add_row(name, f"{figure:.4f}")
    Console().print(table)
