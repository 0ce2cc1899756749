"""How many errors of the test sets occur among the errors of Wang271K and the confusion set made from it.

An error is a wrong character and its correction. Errors of similar sound or shape are expected in any
confusion set, and those of SIGHAN's training sets in anything made for SIGHAN. Of the remaining errors,
which are one-off slips, independent data should share few.
"""

from collections.abc import Iterable
from typing import NamedTuple

from nmspeller.knowledge import confusion, pinyin, shape
from nmspeller.lab.data.datasets import DataTable
from nmspeller.lab.data.pairs import Pair, read_pairs

SIMILAR = 0.5  # similarity of sound or shape from which two characters count as similar

_KNOWN = ("sighan13_train", "sighan14_train", "sighan15_train")
_PAIRS, _CONFUSIONS = "wang", "wang2018"

Error = tuple[str, str]


class LeakCounts(NamedTuple):
    """Different errors of one test set.

    slips: those of dissimilar characters that SIGHAN's training sets do not have.
    in_wang: slips that occur in the available pairs of Wang271K.
    in_confusion: of the other slips, those in the confusion set wang2018.
    """

    name: str
    errors: int
    slips: int
    in_wang: int
    in_confusion: int


def count_leaks(table: DataTable) -> list[LeakCounts]:
    """The counts of every evaluation set in a data folder.

    Raises:
        InputError: a file is absent or damaged.
    """

    def errors_in(name: str) -> set[Error]:
        files = (read_pairs(table.folder / file, lenient=True) for file in table[name].files)
        return {error for pairs in files for error in errors_of(pairs)}

    known = set[Error]().union(*map(errors_in, _KNOWN))
    wang = errors_in(_PAIRS)
    confusions = confusion.read_lists(table.folder / table[_CONFUSIONS].files[0])
    found = []
    for name in table.measured():
        errors = errors_in(name)
        slips = {error for error in errors if error not in known and not are_similar(*error)}
        rest = slips - wang
        in_confusion = sum(wrong in confusions.get(right, ()) for wrong, right in rest)
        found.append(LeakCounts(name, len(errors), len(slips), len(slips & wang), in_confusion))
    return found


def errors_of(pairs: Iterable[Pair]) -> set[Error]:
    """The different errors of pairs, between Chinese characters."""
    return {
        (wrong, right)
        for pair in pairs
        for wrong, right in zip(pair.source, pair.target, strict=True)
        if wrong != right and "一" <= wrong <= "鿿" and "一" <= right <= "鿿"
    }


def are_similar(one: str, other: str) -> bool:
    """Whether two characters are similar in sound or shape."""
    return pinyin.similarity(one, other) >= SIMILAR or shape.similarity(one, other) >= SIMILAR
