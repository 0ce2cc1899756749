"""The prose of Org files: paragraphs, headings, lists, tables, and the keywords that a reader sees."""

import re
from collections.abc import Iterator
from itertools import pairwise

from nmspeller.apps.documents.markup import Markup, line_starts, names
from nmspeller.text.patterns import lazy_pattern

_NOT_PROSE = names("src example export comment latex html")
_SHOWN = names("title subtitle description caption")
_BLOCK = lazy_pattern(r"[ \t]*#\+(?P<side>begin|end)(?:_(?P<name>\w+)|:)", re.IGNORECASE)
_KEYWORD = lazy_pattern(r"[ \t]*#\+(?P<name>[\w-]+)(?:\[[^\[\]]*\])?:[ \t]*")
_NO_TEXT = lazy_pattern(
    r"[ \t]*(?:#(?:[ \t]|$)|:(?:[ \t]|$)|\|[-+|]+$|-{5,}$|(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):)"
)
_DRAWER = lazy_pattern(r"[ \t]*:(?P<name>[\w-]+):[ \t]*$")
_PREFIX = lazy_pattern(
    r"""
      \*+[ \t]+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)[ \t]+)?(?:\[\#[A-Z]\][ \t]+)?(?:COMMENT[ \t]+)?
    | [ \t]*(?:[-+]|[ \t]\*|\d+[.)]|[a-zA-Z][.)])[ \t]+(?:\[@\d+\][ \t]+)?(?:\[[ X-]\][ \t]+)?
    | \[fn:[^\[\]]*\][ \t]*
    """,
    re.VERBOSE,
)
_TAGS = lazy_pattern(r"(?<![ \t])[ \t]+:[\w@:\#%]+:[ \t]*$")
_INLINE = lazy_pattern(
    r"""
      (?<![A-Za-z0-9_/])(?P<mark>[=~])(?=\S)[^=~\r\n]{0,300}?(?<=\S)(?P=mark)(?![A-Za-z0-9_])
    | \[\[(?P<target>[^\[\]\r\n]*)\](?:\[|\])
    | \]\]
    | \[fn:[^\[\]:]*\]
    | (?P<note>\[fn:[^\[\]:]*:)
    | \[cite[^\[\]]*\]
    | [<\[]\d{4}-\d\d-\d\d[^<>\[\]\r\n]*[>\]]
    | <<<?[^<>\r\n]*>>>?
    | \$[^$\s][^$\r\n]*\$(?!\d) | \$\$[^$]*\$\$
    | \\\([^()]*\\\) | \\\[[^\[\]]*\\\]
    | \\[a-zA-Z]+(?:\{[^{}]*\})? | \\\\
    | @@[a-z]+:[^@\r\n]*@@ | \{\{\{[^{}]*\}\}\} | src_\w+(?:\[[^\[\]]*\])?\{[^{}]*\}
    | [*/_+](?=\S)|(?<=\S)[*/_+]
    """,
    re.VERBOSE,
)


def scan(text: str) -> Iterator[Markup]:
    """Code and examples, drawers, keywords, comments; in lines, links, formulas, code and marks."""
    starts = [*line_starts(text), len(text)]
    block = ""  # that is not read
    in_drawer = False
    for start, stop in pairwise(starts):
        line = text[start:stop].rstrip("\r\n")
        bound = _BLOCK.match(line)
        drawer = _DRAWER.match(line)
        if block:
            yield Markup(start, stop)
            if bound and bound["side"].lower() == "end" and (bound["name"] or "").lower() == block:
                block = ""
        elif in_drawer or drawer:
            yield Markup(start, stop)
            in_drawer = not (drawer and drawer["name"].upper() == "END") and not line.startswith("*")
        elif bound:
            yield Markup(start, stop)
            name = (bound["name"] or "").lower()
            block = name if bound["side"].lower() == "begin" and name in _NOT_PROSE else ""
        else:
            yield from _line(text, start, stop, line)


def _line(text: str, start: int, stop: int, line: str) -> Iterator[Markup]:
    if keyword := _KEYWORD.match(line):
        is_shown = keyword["name"].lower() in _SHOWN
        yield Markup(start, start + keyword.end() if is_shown else stop)
        if not is_shown:
            return
    elif _NO_TEXT.match(line):
        yield Markup(start, stop)
        return
    elif prefix := _PREFIX.match(line):
        yield Markup(start, start + prefix.end())
        if line.startswith("*") and (tags := _TAGS.search(line)):
            yield Markup(start + tags.start(), stop)
        elif line.startswith("*"):
            yield Markup(start + len(line), stop)
        elif term := re.search(r"[ \t]::(?=[ \t]|$)", line):
            yield Markup(start + term.start(), start + term.end())
    elif line.lstrip().startswith("|"):
        yield from (Markup(start + at, start + at + 1) for at, sign in enumerate(line) if sign == "|")
    for found in _INLINE.finditer(text, start, start + len(line)):
        yield Markup(*found.span(), joins=not found["note"])
