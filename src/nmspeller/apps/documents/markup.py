"""The output of a format's scanner: the ranges of a text that are not prose."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# One line break; \r\n must not match as two.
BREAK = r"(?:\r\n|\r(?!\n)|\n)"


class Markup(NamedTuple):
    """Code points `start` to `stop` are not prose.

    If it `joins`, the prose on both sides is one sentence (bold type, an inline tag); otherwise it is a break
    for the reader (a heading, a cell, a code block).
    """

    start: int
    stop: int
    joins: bool = False


def names(words: str) -> frozenset[str]:
    """A set of names, from a string with blanks between them."""
    return frozenset(words.split())


def line_starts(text: str) -> list[int]:
    """Where each line begins, counting `\\n`, `\\r` and `\\r\\n` as line breaks."""
    return [0, *(found.end() for found in re.finditer(BREAK, text))]


def in_order(marks: Iterable[Markup]) -> Iterator[Markup]:
    """The same ranges sorted, and trimmed where they overlap; a break wins over a join."""
    end = 0
    for mark in sorted(marks, key=lambda mark: (mark.start, mark.joins, -mark.stop)):
        if mark.stop > end or mark.start == mark.stop >= end:
            yield Markup(max(mark.start, end), mark.stop, mark.joins)
            end = mark.stop
