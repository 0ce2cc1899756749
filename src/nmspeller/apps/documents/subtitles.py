"""The prose of subtitles (SubRip and WebVTT): the lines between the times."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents.markup import BREAK, Markup

_NOT_SPOKEN = re.compile(
    r"""
      ^\ufeff?WEBVTT[^\r\n]*                              # the head of a WebVTT file
    | ^(?:NOTE|STYLE|REGION)\b(?:[^\r\n]+(?:BREAK|\Z))*   # its blocks that are not shown
    | ^[ \t]*\d+[ \t]*(?=BREAK[^\r\n]*-->)           # the number above a time
    | ^[^\r\n]*-->[^\r\n]*                                   # the time
    """.replace("BREAK", BREAK),
    re.MULTILINE | re.VERBOSE,
)
_STYLE = re.compile(r"</?[a-zA-Z][^<>\r\n]*>|<[\d:.]+>|\{\\[^{}\r\n]*\}")


def scan(text: str) -> Iterator[Markup]:
    """Numbers, times, WebVTT's own blocks, and tags inside a line."""
    yield from (Markup(*found.span()) for found in _NOT_SPOKEN.finditer(text))
    yield from (Markup(*found.span(), joins=True) for found in _STYLE.finditer(text))
