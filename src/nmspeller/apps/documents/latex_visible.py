r"""The printed text inside LaTeX that is otherwise not prose: `\text` in formulas, captions in options."""

import re
from collections.abc import Iterable, Iterator

from nmspeller.apps.documents.markup import Markup
from nmspeller.text.patterns import lazy_pattern

Span = tuple[int, int]

# `\\` and an escaped percent sign begin neither a command nor a comment.
_IN_FORMULA = lazy_pattern(
    r"""
      (?P<opening>
        \\(?:text(?:normal|rm|sf|bf|it|up)?|[mhf]box|(?:short)?intertext|tag)\*?[ \t]*\{
      )
    | \\.
    | %[^\r\n]*
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACED = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
_CAPTION = lazy_pattern(
    rf"(?<![\w-])(?:caption|title)[ \t]*=[ \t]*(?:{_BRACED}|([^\s,{{}}\[\]][^,{{}}\[\]\r\n]*))"
)
_BRACE = lazy_pattern(r"\\.|[{}]", re.DOTALL)
_INLINE = lazy_pattern(
    r"""
      \\[a-zA-Z]{0,20}(?:[cC]ite[a-z]{0,20}|[rR]ef|label|url)\*?(?:\[[^\[\]]*\])?\{[^{}]*\}
    | \$[^$]*\$
    | \\[a-zA-Z@]+\*?[ \t]*
    | \\.
    | %[^\r\n]*
    | [{}$~]
    """,
    re.VERBOSE | re.DOTALL,
)


def formula(text: str, start: int, stop: int, *, joins: bool) -> Iterator[Markup]:
    r"""A formula without the arguments of `\text` and the like; it `joins` if it is part of a sentence."""
    return _except(text, start, stop, _texts(text[start:stop], start), joins=joins)


def options(text: str, start: int, stop: int, *, joins: bool = False) -> Iterator[Markup]:
    """Settings without the values of `caption` and `title`; if there is none, they may be in a sentence."""
    values = [found.span(found.lastindex or 0) for found in _CAPTION.finditer(text[start:stop])]
    captions = [(start + first, start + after) for first, after in values]
    return _except(text, start, stop, captions, joins=joins and not captions)


def short_title(text: str, start: int, stop: int, title: Span) -> Iterator[Markup]:
    """A command without one argument that is printed elsewhere, in a table of contents."""
    return _except(text, start, stop, [title])


def _texts(region: str, offset: int) -> Iterator[Span]:
    at = 0
    while found := _IN_FORMULA.search(region, at):
        at = found.end()
        if found["opening"]:
            stop = _closing_brace(region, at)
            yield offset + at, offset + stop
            at = stop


def _closing_brace(region: str, at: int) -> int:
    depth = 1
    for found in _BRACE.finditer(region, at):
        depth += {"{": 1, "}": -1}.get(found.group(), 0)
        if not depth:
            return found.start()
    return len(region)


def _except(
    text: str, start: int, stop: int, printed: Iterable[Span], *, joins: bool = False
) -> Iterator[Markup]:
    """The markup of a region around the spans that are printed, and inside them."""
    for first, after in printed:
        yield Markup(start, first, joins)
        for found in _INLINE.finditer(text[first:after]):
            yield Markup(first + found.start(), first + found.end(), joins=True)
        start = after
    yield Markup(start, stop, joins)
