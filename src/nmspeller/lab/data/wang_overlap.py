"""How many errors of the test sets occur among the errors of Wang271K and the confusion set made from it.

An error is a wrong character and its correction. Errors of similar sound or shape are expected in any
confusion set, and those of SIGHAN's training sets in anything made for SIGHAN. Of the remaining errors,
which are one-off slips, independent data should share few.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from nmspeller.knowledge import confusion, pinyin, shape
from nmspeller.lab.data.pairs import Pair, read_pairs

SIMILAR = 0.5  # similarity of sound or shape from which two characters count as similar

TRAINING_SETS = tuple(f"sighan/simplified/train{year}.tsv" for year in (13, 14, 15))
TEST_SETS = {
    **{f"SIGHAN{year}": f"sighan/simplified/test{year}.tsv" for year in (13, 14, 15)},
    **{f"ECSpell {name}": f"ecspell/{name}_test.tsv" for name in ("law", "med", "odw")},
    "CSCD-NS dev": "cscd_ns/dev.tsv",
}
WANG_PAIRS = "wang271k/slices_union.tsv"
WANG_CONFUSION = "confusion/wang2018.txt"

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


def count_leaks(data: Path) -> list[LeakCounts]:
    """The counts of every test set in a data folder.

    Raises:
        InputError: a file is absent or damaged.
    """
    known = set[Error]().union(*(errors_of(read_pairs(data / path)) for path in TRAINING_SETS))
    wang = errors_of(read_pairs(data / WANG_PAIRS, lenient=True))
    confusions = confusion.read_lists(data / WANG_CONFUSION)
    found = []
    for name, path in TEST_SETS.items():
        errors = errors_of(read_pairs(data / path))
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
