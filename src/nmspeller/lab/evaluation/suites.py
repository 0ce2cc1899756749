"""The evaluation sets by name, and the scores of a speller on them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nmspeller.errors import InputError
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.data.pairs import Pair, read_pairs
from nmspeller.lab.evaluation.metrics import DropDe, Scores, evaluate


class EvaluationSet(NamedTuple):
    """A pair file in the data folder, and whether edits to 地 and 得 are dropped."""

    path: str
    drop_de: DropDe = False


SETS = {
    "sighan13": EvaluationSet("sighan/simplified/test13.tsv", drop_de=True),
    "sighan14": EvaluationSet("sighan/simplified/test14.tsv"),
    "sighan15": EvaluationSet("sighan/simplified/test15.tsv"),
    "sighan14_multierror": EvaluationSet("sighan/sighan14_multierror.tsv"),
    "sighan15_multierror": EvaluationSet("sighan/sighan15_multierror.tsv"),
    "ecspell_law": EvaluationSet("ecspell/law_test.tsv"),
    "ecspell_med": EvaluationSet("ecspell/med_test.tsv"),
    "ecspell_odw": EvaluationSet("ecspell/odw_test.tsv"),
    "cscd_ns_dev": EvaluationSet("cscd_ns/dev.tsv"),
}


def load(name: str) -> tuple[Pair, ...]:
    """The pairs of a set.

    Raises:
        InputError: the name is unknown, or the data is absent.
    """
    if name not in SETS:
        raise InputError(f"{name!r} is not an evaluation set; choose among {', '.join(SETS)}.")
    return _read(data_folder() / SETS[name].path)


def predict(
    correct_many: Callable[[list[str]], Sequence[str]], names: Iterable[str] = tuple(SETS)
) -> dict[str, list[str]]:
    """A speller's answer to every sentence of the named sets."""
    return {name: list(correct_many([pair.source for pair in load(name)])) for name in names}


def score(predictions: Mapping[str, Sequence[str]]) -> dict[str, Scores]:
    """The scores of answers, set by set."""
    return {name: _score(name, answers) for name, answers in predictions.items()}


def edits_of(name: str, answers: Sequence[str]) -> list[list[int | str]]:
    """Answers as what they change, [sentence, position, character]: small, without the set's sentences."""
    return [
        [number, place, new]
        for number, (pair, answer) in enumerate(zip(load(name), answers, strict=True))
        for place, (old, new) in enumerate(zip(pair.source, answer, strict=True))
        if old != new
    ]


def answers_of(name: str, edits: Iterable[Sequence[int | str]]) -> list[str]:
    """The inverse of `edits_of`."""
    answers = [list(pair.source) for pair in load(name)]
    for number, place, new in edits:
        answers[int(number)][int(place)] = str(new)
    return ["".join(answer) for answer in answers]


def _score(name: str, answers: Sequence[str]) -> Scores:
    pairs = load(name)
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    return evaluate(sources, targets, answers, drop_de=SETS[name].drop_de)


@cache
def _read(path: Path) -> tuple[Pair, ...]:
    return tuple(read_pairs(path))
