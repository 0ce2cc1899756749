"""The prose of Apple's `.strings` files, `"key" = "value";`: values and comments."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents.markup import Markup
from nmspeller.apps.documents.values import Span, outside, unmarked
from nmspeller.text.patterns import lazy_pattern

_NEXT = lazy_pattern(
    r"""
      (?P<comment>//[^\r\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?)
    | "(?P<string>(?:[^"\\]|\\[\s\S])*)"?
    """,
    re.VERBOSE,
)
_EQUALS = lazy_pattern(r"\s*=")


def scan(text: str) -> Iterator[Markup]:
    """Everything except values and comments; in values, escapes and placeholders."""
    return outside(text, _values(text))


def _values(text: str) -> Iterator[Span]:
    for found in _NEXT.finditer(text):
        if found["comment"]:
            yield unmarked(text, *found.span(), "/*")
        elif not _EQUALS.match(text, found.end()):
            yield found.span("string")
