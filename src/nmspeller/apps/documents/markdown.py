"""The prose of Markdown: the lines of its blocks, and what in them is code, a formula, a link or a mark."""

import re
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise

from nmspeller.apps.documents import html, markdown_blocks
from nmspeller.apps.documents.markdown_blocks import LINE_PREFIX, normal_label
from nmspeller.apps.documents.markup import BREAK, Markup, line_starts

_FRONT_MATTER = re.compile(
    rf"""
    \ufeff?(?:(?P<yaml>---)|\+\+\+)[ \t]*{BREAK}
    (?:.*?{BREAK})??
    (?(yaml)(?:---|\.\.\.)|\+\+\+)[ \t]*(?=\r|\n|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_UNDERLINE = re.compile(r"[ \t]*(?:=+|-+)[ \t]*")
_INLINE = re.compile(
    r"""
      (?P<code>(?<!`)(?P<ticks>`+)(?!`))
    | (?P<escape>\\(?:[!-/:-@\[-`{-~]|(?:\r\n?|\n)[ \t]*))
    | (?P<mathematics>\$\$[^$]+\$\$|\$(?!\s)[^$\r\n]+(?<!\s)\$(?!\d))
    | (?P<wiki>!?\[\[[^\[\]\r\n]+\]\](?!\())
    | (?P<template>TEMPLATE)
    | (?P<reference>!?\[(?!\^)(?P<label>[^\[\]]+)\](?:\[\])?(?![(\[]))
    | (?P<link>\](?:\((?:[^()\r\n]|\([^()\r\n]*\))*?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)|\[[^\[\]]*\]))
    | (?P<attributes>\{:?[ \t]*(?:[\#.]|[a-zA-Z\-]+=)[^{}\r\n]*\})
    | (?P<address><[a-zA-Z][a-zA-Z0-9+.\-]*:[^<>\s]*>|<[^<>\s@]+@[^<>\s@]+>)
    | (?P<html><!--.*?-->|</?(?P<tag>[a-zA-Z][^\s/<>"']*)(?:[^<>"']|"[^"]*"|'[^']*')*>)
    | (?P<entity>&(?:\#\d+|\#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);)
    | (?P<marks>[*_~=]{1,3}|!?\[(?:\^[^\[\]\s]+\]:?)?|\]|(?<!\#)\#+[ \t]*(?=[\r\n]|\Z))
    | (?P<cell>\|)
    """.replace("TEMPLATE", html.TEMPLATE),
    re.VERBOSE | re.DOTALL,
)


def scan(text: str) -> Iterator[Markup]:
    """Everything except paragraphs, headings and cells; in these, code, formulas, tags, links and marks."""
    front = _FRONT_MATTER.match(text)
    body = front.end() if front else 0
    starts = [body + start for start in line_starts(text[body:])] + [len(text)]
    blocks, labels = markdown_blocks.parse(text[body:])
    end = 0
    for first, after, is_row in blocks:
        start, stop = starts[first], starts[min(after, len(starts) - 1)]
        if start < end:  # the cells of one row share its line
            continue
        yield Markup(end, start)
        yield from _line_marks(text, starts[first : after + 1])
        for mark in _inline(text[start:stop], is_row, labels):
            yield Markup(start + mark.start, start + mark.stop, mark.joins)
        end = stop
    yield Markup(end, len(text))


def _line_marks(text: str, starts: Sequence[int]) -> Iterator[Markup]:
    """The markup before the prose of a block's lines, and the line below a heading."""
    block_start = line_break = starts[0]
    for start, stop in pairwise(starts):
        continues = start > block_start
        line = text[start:stop]
        if continues and _UNDERLINE.fullmatch(line.rstrip("\r\n")):
            yield Markup(start, stop)
        elif prefix := LINE_PREFIX.match(line):
            # On the first line it begins the block; on the others it only repeats that this is a quotation.
            yield Markup(line_break, start + prefix.end(), joins=continues)
        line_break = start + len(line.rstrip())


def _inline(block: str, is_row: bool, labels: Container[str]) -> Iterator[Markup]:
    at = 0
    while found := _INLINE.search(block, at):
        mark = Markup(*found.span(), joins=not (is_row and found["cell"]))
        if found["code"]:
            closing = re.compile(rf"(?<!`){found['ticks']}(?!`)").search(block, mark.stop)
            mark = mark._replace(stop=closing.end() if closing else mark.stop)
        elif found["reference"] and normal_label(found["label"]) not in labels:
            mark = mark._replace(stop=found.start("label"))  # just brackets, and what they hold is prose
        elif found["tag"]:
            mark = html.element(block, found["tag"].lower(), *found.span())
        yield mark
        at = mark.stop
