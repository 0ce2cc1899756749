"""Confusion sets: the characters that a character is confused with, the most confusable first."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path

from nmspeller.errors import InputError
from nmspeller.knowledge.tables import load
from nmspeller.messages import _

PRONUNCIATION_COLUMNS = 6


class ConfusionSet(Mapping[str, tuple[str, ...]]):
    """For each character those it is confused with, the most confusable first, without itself or repetitions.

    An unknown character raises KeyError, as in any mapping; use `get(character, ())`.
    """

    def __init__(self, candidates: Mapping[str, Iterable[str]]) -> None:
        self._candidates = {
            character: tuple(other for other in dict.fromkeys(others) if other != character)
            for character, others in candidates.items()
        }

    def __getitem__(self, character: str) -> tuple[str, ...]:
        return self._candidates[character]

    def __iter__(self) -> Iterator[str]:
        return iter(self._candidates)

    def __len__(self) -> int:
        return len(self._candidates)

    def interleaved(self, other: "ConfusionSet") -> "ConfusionSet":
        """Both tables in one: the best of each, then the second best of each, and so on."""
        return ConfusionSet(
            {
                character: [
                    candidate
                    for pair in zip_longest(self.get(character, ()), other.get(character, ()))
                    for candidate in pair
                    if candidate is not None
                ]
                for character in chain(self, (character for character in other if character not in self))
            }
        )


@cache
def own_set(candidates: int = 100) -> ConfusionSet:
    """The shipped confusion set, from sound, shape and frequency: at most 100 candidates per character."""
    data = load("confusion.npz")
    codes = data["characters"]
    return ConfusionSet(
        {
            chr(character): map(chr, row)
            for character, row in zip(codes, codes[data["candidates"][:, :candidates]].tolist(), strict=True)
        }
    )


def read_lists(path: str | os.PathLike[str]) -> ConfusionSet:
    """Read a table with one character a line, `:` or `,`, and its candidates: 基:急击接.

    This is the format of Wang's table, the shape table of SIGHAN 2013 and NCUEE's. Five lines of SIGHAN's
    table lack their character and are skipped.
    """
    table: dict[str, list[str]] = {}
    for number, line in _lines(path):
        if line[0] in ":,":
            continue
        if len(line) < 2 or line[1] not in ":,":
            raise InputError(
                _(
                    "{path}, line {number}: expected a character, a colon or comma, and its candidates."
                ).format(path=path, number=number)
            )
        table.setdefault(line[0], []).extend(line[2:])
    return ConfusionSet(table)


def read_pronunciation(path: str | os.PathLike[str]) -> ConfusionSet:
    """Read the pronunciation table of SIGHAN 2013: a header, then a character and five columns of candidates.

    The columns go from the same sound and tone to a similar sound, and end with the same radical.
    """
    table: dict[str, list[str]] = {}
    for number, line in _lines(path):
        columns = line.split("\t")
        if len(columns) != PRONUNCIATION_COLUMNS:
            raise InputError(
                _("{path}, line {number}: expected {count} columns, separated by tabs.").format(
                    path=path, number=number, count=PRONUNCIATION_COLUMNS
                )
            )
        if number > 1:
            table.setdefault(columns[0], []).extend("".join(columns[1:]))
    return ConfusionSet(table)


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers from 1."""
    try:
        content = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            _("cannot read the confusion set {path}: give a file in UTF-8.").format(path=path)
        ) from error
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r\n")


def coverage(errors: Mapping[tuple[str, str], int], table: ConfusionSet, sizes: Sequence[int]) -> list[float]:
    """The percentage of real errors that a table covers, at each number of candidates per character.

    Args:
        errors: how often each pair of a candidate and the character it was confused with occurs. To generate
            training pairs the character is the correct one, to correct errors it is the wrong one.
    """
    found: Counter[int] = Counter()
    for (candidate, character), times in errors.items():
        others = table.get(character, ())
        if candidate in others:
            found[others.index(candidate)] += times
    total = sum(errors.values())
    if not total:
        return [0.0 for _ in sizes]
    return [100 * sum(n for rank, n in found.items() if rank < size) / total for size in sizes]
