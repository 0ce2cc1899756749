"""Texts that a file of translations or settings holds as values: between the quotes, without escapes."""

import re
from collections.abc import Iterable, Iterator

from nmspeller.apps.documents import placeholders
from nmspeller.apps.documents.markup import Markup
from nmspeller.text.patterns import lazy_pattern

Span = tuple[int, int]

BACKSLASH = lazy_pattern(
    r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{4,8}|x[0-9a-fA-F]{2}|[0-7]{3}|\r\n|.)", re.DOTALL
)
"""An escape as JSON, YAML, gettext, Java and most other formats write it."""

_STARTS_A_LINE = ("n", "r", "f")


def outside(text: str, values: Iterable[Span], escape: re.Pattern[str] = BACKSLASH) -> Iterator[Markup]:
    """All of a text that is no value; in the values, escapes and the placeholders that a program replaces.

    An escape that stands for a line end separates sentences; any other is inside one.
    """
    end = 0
    for start, stop in values:
        yield Markup(end, start)
        yield from escapes(text, start, stop, escape)
        yield from placeholders.scan(text, start, stop)
        end = stop
    yield Markup(end, len(text))


def escapes(text: str, start: int, stop: int, escape: re.Pattern[str] = BACKSLASH) -> Iterator[Markup]:
    """The escapes of a value."""
    for found in escape.finditer(text, start, stop):
        yield Markup(*found.span(), joins=not found.group().endswith(_STARTS_A_LINE, 1, 2))


def unmarked(text: str, start: int, stop: int, marks: str) -> Span:
    """A comment without the marks and the blanks at its ends."""
    content = text[start:stop]
    first = start + len(content) - len(content.lstrip(f"{marks} \t"))
    return first, max(first, start + len(content.rstrip(f"{marks} \t\r\n")))
