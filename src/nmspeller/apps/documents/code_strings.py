"""The prose in programs with their strings: comments, documentation, and what a program may show."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents import code, placeholders
from nmspeller.apps.documents.markup import Markup, names
from nmspeller.apps.documents.values import Span, escapes
from nmspeller.text.patterns import lazy_pattern

# What is never closed ends with its line, or with the text, so that nothing is read twice.
_TRIPLE = r"\"{3}(?P<long>[\s\S]*?)(?:\"{3}|\Z)|'{3}(?P<other_long>[\s\S]*?)(?:'{3}|\Z)"
_DOUBLE = r'"(?P<double>(?:\\[\s\S]|[^"\\\r\n])*)"?'
_SINGLE = r"'(?P<single>(?:\\[\s\S]|[^'\\\r\n])*)'?"
_TEMPLATE = r"`(?P<template>(?:\\[\s\S]|[^`\\])*)`?"
_STRING = lazy_pattern("|".join((_TRIPLE, _DOUBLE, _SINGLE, _TEMPLATE)))
_DOUBLE_QUOTED = lazy_pattern(_DOUBLE)
# In these a single quote has other meanings: a lifetime, a symbol, a transposed matrix.
_SINGLE_QUOTE_IS_NONE = names(
    "ada clojure common-lisp emacs-lisp haskell matlab octave ocaml racket rust scala scheme sml vb.net zig"
)
_DOCUMENTATION = lazy_pattern(r"(\"{3}|'{3})\s*\Z")


def scan(text: str, language: str) -> Iterator[Markup]:
    """Everything except comments, documentation and strings; in strings, escapes and placeholders."""
    pattern = _DOUBLE_QUOTED if language.lower() in _SINGLE_QUOTE_IS_NONE else _STRING
    closing = ""  # the quotes of the documentation string before this code
    for mark in code.scan(text, language):
        start, joins = mark.start, mark.joins
        for first, after in _strings(text, _after_documentation(text, mark, closing), mark.stop, pattern):
            yield Markup(start, first)
            yield from escapes(text, first, after)
            yield from placeholders.scan(text, first, after)
            start, joins = after, False
        yield Markup(start, mark.stop, joins)
        if not mark.joins:
            opened = _DOCUMENTATION.search(text, max(mark.start, mark.stop - 80), mark.stop)
            closing = opened[1] if opened else ""


def _after_documentation(text: str, mark: Markup, closing: str) -> int:
    blanks = len(text[mark.start : mark.stop]) - len(text[mark.start : mark.stop].lstrip())
    starts = mark.start + blanks
    return starts + len(closing) if closing and text.startswith(closing, starts) else mark.start


def _strings(text: str, start: int, stop: int, pattern: re.Pattern[str]) -> Iterator[Span]:
    for found in pattern.finditer(text, start, stop):
        if found.lastgroup:
            yield found.span(found.lastgroup)
