"""The evaluation sets by name, and the scores of a speller on them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nmspeller.errors import InputError
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.data.pairs import Pair, read_pairs
from nmspeller.lab.evaluation import metrics
from nmspeller.lab.evaluation.metrics import DropDe, Outcomes, Scores


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
    return {name: metrics.score(outcomes(name, answers)) for name, answers in predictions.items()}


def outcomes(name: str, answers: Sequence[str], drop_de: DropDe | None = None) -> Outcomes:
    """What happened to each sentence of a set, by the set's own rule for 地 and 得 unless one is given."""
    pairs = load(name)
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    rule = SETS[name].drop_de if drop_de is None else drop_de
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
def _read(path: Path) -> tuple[Pair, ...]:
    return tuple(read_pairs(path))
