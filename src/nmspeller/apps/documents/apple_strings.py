"""The prose of Apple's `.strings` files, `"key" = "value";`: values and comments."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents.markup import Markup
from nmspeller.apps.documents.values import Span, outside, unmarked

_NEXT = re.compile(
    r"""
      (?P<comment>//[^\r\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?)
    | "(?P<string>(?:[^"\\]|\\[\s\S])*)"?
    """,
    re.VERBOSE,
)
_EQUALS = re.compile(r"\s*=")


def scan(text: str) -> Iterator[Markup]:
    """Everything except values and comments; in values, escapes and placeholders."""
    return outside(text, _values(text))


def _values(text: str) -> Iterator[Span]:
    for found in _NEXT.finditer(text):
        if found["comment"]:
            yield unmarked(text, *found.span(), "/*")
        elif not _EQUALS.match(text, found.end()):
            yield found.span("string")
