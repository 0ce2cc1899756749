"""The prose of Java's property files: values and comments."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents.markup import BREAK, Markup
from nmspeller.apps.documents.values import BACKSLASH, Span, outside, unmarked
from nmspeller.text.patterns import lazy_pattern

_LINE = lazy_pattern(
    r"""
    (?P<comment>[#!][^\r\n]*)
    | (?P<key>(?:[^\s=:\\]|\\(?:\r\n|.))+)[ \t\f]*[=:]?[ \t\f]*(?P<value>(?:[^\\\r\n]|\\(?:\r\n|.))*)
    """,
    re.DOTALL | re.VERBOSE,
)
_BLANKS = lazy_pattern(r"\s*")
# A value goes on in the next line, without the blanks before it there.
_ESCAPE = lazy_pattern(rf"\\{BREAK}[ \t\f]*|{BACKSLASH.pattern}", re.DOTALL)


def scan(text: str) -> Iterator[Markup]:
    """Everything except values and comments; in values, escapes and placeholders."""
    return outside(text, _values(text), _ESCAPE)


def _values(text: str) -> Iterator[Span]:
    at = 0
    while blanks := _BLANKS.match(text, at):
        line = _LINE.match(text, blanks.end())
        if not line:  # a line that begins with an equals sign, or the end of the text
            at = blanks.end() + 1
            if at > len(text):
                return
            continue
        yield unmarked(text, *line.span(), "#!") if line["comment"] else line.span("value")
        at = line.end()
