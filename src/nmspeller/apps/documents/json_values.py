"""The prose of JSON (also with comments, and as in JSON5): the texts that are values, and comments."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents.markup import Markup
from nmspeller.apps.documents.values import Span, outside, unmarked
from nmspeller.text.patterns import lazy_pattern

# What is never closed ends with its line, or with the text: nothing is read twice.
_NEXT = lazy_pattern(
    r"""
      (?P<quote>["'])(?P<string>(?:(?!(?P=quote))[^\\\r\n]|\\(?:\r\n|[\s\S]))*)(?P<end>(?P=quote)?)
    | (?P<comment>//[^\r\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?)
    """,
    re.VERBOSE,
)
COLON = lazy_pattern(r"\s*:")
"""What follows a key."""


def scan(text: str) -> Iterator[Markup]:
    """Everything except values and comments; in values, escapes and placeholders."""
    return outside(text, _values(text))


def _values(text: str) -> Iterator[Span]:
    for found in _NEXT.finditer(text):
        if found["comment"]:
            yield unmarked(text, *found.span(), "/*")
        elif not COLON.match(text, found.end()):
            yield found.span("string")
