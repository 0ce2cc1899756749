"""The evaluation sets by name, and the scores of a speller on them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from nmspeller.errors import InputError
from nmspeller.lab.data.datasets import DataTable
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.data.pairs import Pair, read_pairs
from nmspeller.lab.evaluation import metrics
from nmspeller.lab.evaluation.metrics import DropDe, EvaluationScores, Outcomes


def names() -> list[str]:
    """The evaluation sets of the data folder, in the order of the table."""
    return list(_table(data_folder()).measured())


def load(name: str) -> tuple[Pair, ...]:
    """The pairs of a set.

    Raises:
        InputError: the name is unknown, or the data is absent.
    """
    table = _table(data_folder())
    known = [each for each, one in table.items() if one.is_measured]
    if name not in known:
        raise InputError(f"{name!r} is not an evaluation set; choose among {', '.join(known)}.")
    return tuple(pair for file in table[name].files for pair in _read(table.folder / file))


def drops_de(name: str) -> bool:
    """Whether edits to 地 and 得 are not counted in a set."""
    return _table(data_folder())[name].drop_de


def predict(correct_many: Callable[[list[str]], Sequence[str]], sets: Iterable[str]) -> dict[str, list[str]]:
    """A speller's answer to every sentence of the named sets."""
    return {name: list(correct_many([pair.source for pair in load(name)])) for name in sets}


def score(predictions: Mapping[str, Sequence[str]]) -> dict[str, EvaluationScores]:
    """The scores of answers, set by set."""
    return {name: metrics.score(outcomes(name, answers)) for name, answers in predictions.items()}


def outcomes(name: str, answers: Sequence[str], drop_de: DropDe | None = None) -> Outcomes:
    """What happened to each sentence of a set, by the set's own rule for 地 and 得 unless one is given."""
    pairs = load(name)
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    rule = drops_de(name) if drop_de is None else drop_de
    return metrics.compare(sources, targets, answers, drop_de=rule)


def edits_of(name: str, answers: Sequence[str]) -> list[list[int | str]]:
    """The edits of answers, [sentence, position, character]: small, and without the set's sentences."""
    return [
        [number, place, new]
        for number, (pair, answer) in enumerate(zip(load(name), answers, strict=True))
        for place, (old, new) in enumerate(zip(pair.source, answer, strict=True))
        if old != new
    ]


@cache
def _table(folder: Path) -> DataTable:
    return DataTable.read(folder)


@cache
def _read(path: Path) -> tuple[Pair, ...]:
    return tuple(read_pairs(path))
