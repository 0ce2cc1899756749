"""`nmspeller evaluate`: how good a speller is on a file of sentence pairs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from nmspeller.errors import InputError
from nmspeller.lab.data.pairs import read_pairs

if TYPE_CHECKING:
    from nmspeller.lab.evaluation.metrics import Scores

_BATCH = 256


def evaluate(
    path: Path = typer.Argument(..., metavar="PAIRS.tsv", help="source<TAB>target, one pair a line."),
    model: str | None = typer.Option(None, metavar="M", help="A model folder; the shipped one if not given."),
    level: str = typer.Option("balanced", help="careful, balanced or thorough: how sure it must be."),
    drop_de: bool = typer.Option(False, "--drop-de", help="Drop edits to 地 and 得, as is done on SIGHAN13."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Measure a speller on a file of sentence pairs."""
    pairs = read_pairs(path)
    if not pairs:
        raise InputError(f"{path} holds no pairs; there is nothing to measure.")
    sources = [pair.source for pair in pairs]
    predictions = _correct(sources, model, level)
    # numpy loads only now, so that no other command waits for it.
    from nmspeller.lab.evaluation import metrics

    scores = metrics.evaluate(sources, [pair.target for pair in pairs], predictions, drop_de=drop_de)
    if as_json:
        typer.echo(json.dumps(scores.as_dict()))
    else:
        _print(scores)


def _correct(sources: list[str], model: str | None, level: str) -> list[str]:
    # The runtime loads only now, so that a bad file is refused at once.
    from nmspeller import Speller

    speller = Speller(model, level=level)
    console = Console(stderr=True)
    batches = [sources[start : start + _BATCH] for start in range(0, len(sources), _BATCH)]
    watched = track(batches, "checking", console=console, disable=not console.is_terminal, transient=True)
    return [correction.text for batch in watched for correction in speller.check_many(batch)]


def _print(scores: "Scores") -> None:
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
        f"{scores.correction_accuracy:.2f} % corrected exactly or rightly left alone; "
        f"{scores.changed_clean:.2f} % of the clean ones were changed.",
        highlight=False,
    )
