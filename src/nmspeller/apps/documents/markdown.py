"""The prose of Markdown: blocks that hold text, found by markdown-it; their inline markup, found here."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from nmspeller.apps.documents.markup import BREAK, Markup, line_starts

_FRONT_MATTER = re.compile(
    rf"""
    \ufeff?(?:(?P<yaml>---)|\+\+\+)[ \t]*{BREAK}
    (?:.*?{BREAK})??
    (?(yaml)(?:---|\.\.\.)|\+\+\+)[ \t]*(?=\r|\n|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_LINE_PREFIX = re.compile(
    r"(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])|\#{1,6}(?=[ \t])|\[[ xX]\](?=[ \t])))+[ \t]*"
)
_UNDERLINE = re.compile(r"[ \t]*(?:=+|-+)[ \t]*")
_LINK_TARGET = re.compile(r"[ \t>]*\[(?!\^)(?P<label>[^\[\]\r\n]+)\]:")
_INLINE = re.compile(
    r"""
      (?P<code>(?<!`)(?P<ticks>`+)(?!`))
    | (?P<escape>\\[!-/:-@\[-`{-~])
    | (?P<mathematics>\$\$[^$]+\$\$|\$(?!\s)[^$\r\n]+(?<!\s)\$(?!\d))
    | (?P<wiki>!?\[\[[^\[\]\r\n]+\]\](?!\())
    | (?P<template>\{\{(?:(?!\{\{|\}\}).)*\}\}|\{%(?:(?!\{%|%\}).)*%\})
    | (?P<reference>!?\[(?!\^)(?P<label>[^\[\]]+)\](?:\[\])?(?![(\[]))
    | (?P<link>\](?:\([^()\r\n]*(?:\([^()\r\n]*\)[^()\r\n]*)*\)|\[[^\[\]]*\]))
    | (?P<html><!--.*?-->|</?[a-zA-Z][^<>]*>|<[a-zA-Z][a-zA-Z0-9+.\-]*:[^<>\s]*>|<[^<>\s@]+@[^<>\s@]+>)
    | (?P<entity>&(?:\#\d+|\#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);)
    | (?P<marks>[*_~=]{1,3}|!?\[(?:\^[^\[\]\s]+\]:?)?|\]|\#+[ \t]*$)
    | (?P<cell>\|)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def scan(text: str) -> Iterator[Markup]:
    """All but paragraphs, headings and cells; in these, code, formulas, tags, link targets and marks."""
    front = _FRONT_MATTER.match(text)
    body = front.end() if front else 0
    starts = [body + start for start in line_starts(text[body:])] + [len(text)]
    targets = (_LINK_TARGET.match(text, start) for start in starts)
    labels = {_normal_label(target["label"]) for target in targets if target}
    end = 0
    for first, after, is_table in _blocks(text[body:]):
        start, stop = starts[first], starts[min(after, len(starts) - 1)]
        if start < end:  # the cells of one row share its line
            continue
        yield Markup(end, start)
        yield from _inline(text, starts, start, stop, is_table, labels)
        end = stop
    yield Markup(end, len(text))


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """First line, line after the last, and whether it is a table's row, for every block that holds prose."""
    for token in _parser().parse(text):
        if token.type == "inline" and token.map:
            yield token.map[0], token.map[1], False
        elif token.type == "tr_open" and token.map:
            yield token.map[0], token.map[1], True


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    # Only blocks are wanted: the inline rules do not say where they found what.
    # It takes footnotes for targets of links, and leaves both out.
    return MarkdownIt("commonmark").enable("table").disable(["inline", "reference"])


def _normal_label(label: str) -> str:
    """Labels of links are the same whatever their case and white space."""
    return " ".join(label.split()).casefold()


def _inline(
    text: str, starts: list[int], start: int, stop: int, is_table: bool, labels: set[str]
) -> Iterator[Markup]:
    for line in range(bisect_right(starts, start) - 1, len(starts)):
        if starts[line] >= stop:
            break
        line_stop = starts[line + 1] if line + 1 < len(starts) else len(text)
        underline = starts[line] > start and _UNDERLINE.fullmatch(
            text[starts[line] : line_stop].rstrip("\r\n")
        )
        prefix = _LINE_PREFIX.match(text, starts[line], line_stop)
        if underline or _LINK_TARGET.match(text, starts[line], line_stop):
            yield Markup(starts[line], line_stop)
        elif prefix:
            # On the first line it begins the block; on the others it only repeats that this is a quotation.
            goes_on = starts[line] > start
            last = text[starts[line - 1] : starts[line]] if goes_on else ""
            line_break = len(last) - len(last.rstrip())
            yield Markup(starts[line] - line_break, prefix.end(), joins=goes_on)
    at = start
    while found := _INLINE.search(text, at, stop):
        at = found.end()
        if found["code"]:
            closing = re.compile(rf"(?<!`){found['ticks']}(?!`)").search(text, at, stop)
            at = closing.end() if closing else at
        elif found["reference"] and _normal_label(found["label"]) not in labels:
            at = found.start("label")  # these are just brackets, and what they hold is prose
        yield Markup(found.start(), at, joins=not (is_table and found["cell"]))
