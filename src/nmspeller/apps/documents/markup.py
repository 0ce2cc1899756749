"""What a format's scanner says: which stretches of a text are not prose."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# One line break, which may not be read as two when a pattern asks for two of them.
BREAK = r"(?:\r\n|\r(?!\n)|\n)"
# What stands between the brackets of a pattern that finds a Chinese character.
HANZI = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"


class Markup(NamedTuple):
    """Code points `start` to `stop` are not prose.

    Where it `joins`, the prose on both sides is one sentence (bold type, a tag inside a line); otherwise the
    reader sees a break there (a heading, a cell, a block of code).
    """

    start: int
    stop: int
    joins: bool = False


def names(words: str) -> frozenset[str]:
    """A set of names, written as one reads them."""
    return frozenset(words.split())


def line_starts(text: str) -> list[int]:
    """Where each line begins, counting `\\n`, `\\r` and `\\r\\n` as line breaks."""
    return [0, *(found.end() for found in re.finditer(BREAK, text))]


def in_order(marks: Iterable[Markup]) -> Iterator[Markup]:
    """The same stretches sorted, and trimmed where they overlap; a break wins over a join."""
    end = 0
    for mark in sorted(marks, key=lambda mark: (mark.start, mark.joins, -mark.stop)):
        if mark.stop > end or mark.start == mark.stop >= end:
            yield Markup(max(mark.start, end), mark.stop, mark.joins)
            end = mark.stop
