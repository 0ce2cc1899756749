"""The prose of subtitles (SubRip and WebVTT): the lines between the times."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents.markup import BREAK, Markup
from nmspeller.text.patterns import lazy_pattern

_NOT_SHOWN = lazy_pattern(
    r"""
      ^\ufeff?WEBVTT[^\r\n]*                              # the head of a WebVTT file
    | (?:\A|BREAK[ \t]*BREAK)(?:NOTE|STYLE|REGION)\b      # its blocks that are not shown
      [^\r\n]*(?:BREAK(?![^\r\n]*-->)[^\r\n]+)*
    | ^[^\r\n]+(?=BREAK[^\r\n]*-->)                       # the number above a time, in WebVTT any name
    | ^[^\r\n]*-->[^\r\n]*                                # the time
    """.replace("BREAK", BREAK),
    re.MULTILINE | re.VERBOSE,
)
_STYLE = lazy_pattern(r"<rt>[^<>\r\n]*</rt>|&[a-z]+;|</?[a-zA-Z][^<>\r\n]*>|<[\d:.]+>|\{\\[^{}\r\n]*\}")


def scan(text: str) -> Iterator[Markup]:
    """Numbers, names, times, WebVTT's own blocks; inside a line, tags, readings and entities."""
    yield from (Markup(*found.span()) for found in _NOT_SHOWN.finditer(text))
    yield from (Markup(*found.span(), joins=True) for found in _STYLE.finditer(text))
