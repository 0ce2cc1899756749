"""The prose of Markdown: the lines of its blocks, and what in them is code, a formula, a link or a mark."""

import re
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise

from nmspeller.apps.documents import front_matter, html, latex_visible, markdown_blocks
from nmspeller.apps.documents.markdown_blocks import LINE_PREFIX, BlockKind, normal_label
from nmspeller.apps.documents.markup import Markup, line_starts
from nmspeller.text.patterns import lazy_pattern

_CAPTION = lazy_pattern(
    r"""
    (?<![^\r\n])[ \t>*+\d.)\-]*
    (?:(?:`{3}|~{3})[^\r\n]*?(?<![\w.\-])|(?:\#|//|--|%%)\|[ \t]*)
    (?:title|caption|(?:fig|lst|tbl)[.-]cap)[ \t]*[=:][ \t]*
    (?:"([^"\r\n]*)"|'([^'\r\n]*)'|(?<=:[ ])([^\s"'][^\r\n]*))
    """,
    re.VERBOSE,
)
_UNDERLINE = lazy_pattern(r"[ \t]*(?:=+|-+)[ \t]*")
_INLINE = lazy_pattern(
    r"""
      (?P<code>(?<!`)(?P<ticks>`+)(?!`))
    | (?P<escape>\\(?:[!-/:-@\[-`{-~]|(?:\r\n?|\n)[ \t]*))
    | (?P<mathematics>\$\$[^$]+\$\$|\$(?!\s)[^$\r\n]+(?<!\s)\$(?!\d))
    | (?P<wiki>!?\[\[[^\[\]\r\n]+\]\](?!\())
    | (?P<template>TEMPLATE)
    | (?P<reference>!?\[(?!\^)(?P<label>[^\[\]]+)\](?:\[\])?(?![(\[]))
    | (?P<link>
        \](?:
            \((?:[^()\r\n]|\([^()\r\n]*\))*?(?<!\s)(?:\s+(?P<title>"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)
          | \[[^\[\]]*\]
        )
      )
    | (?P<attributes>\{:?[ \t]*(?:[\#.]|[a-zA-Z\-]+=)[^{}\r\n]*\})
    | (?P<address><[a-zA-Z][a-zA-Z0-9+.\-]*:[^<>\s]*>|<[^<>\s@]+@[^<>\s@]+>)
    | (?P<comment><!--)
    | (?P<html></?(?P<tag>[a-zA-Z][^\s/<>"']*)(?![^\s/<>"'])(?:[^<>"']|"[^"]*"|'[^']*')*>)
    | (?P<entity>&(?:\#\d+|\#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);)
    | (?P<note>\^\[(?!\^))
    | (?P<marks>[*_~=]{1,3}|!?\[(?:\^[^\[\]\s]+\]:?)?|\]|(?<!\#)\#+[ \t]*(?=[\r\n]|\Z))
    | (?P<cell>\|)
    """.replace("TEMPLATE", html.TEMPLATE),
    re.VERBOSE | re.DOTALL,
)


def scan(text: str) -> Iterator[Markup]:
    """Everything except paragraphs, headings and cells; in these, code, formulas, tags, links and marks."""
    body = front_matter.end(text)
    yield from front_matter.scan(text, body)
    starts = [body + start for start in line_starts(text[body:])] + [len(text)]
    blocks, labels = markdown_blocks.parse(text[body:])
    end = body
    for first, after, kind in blocks:
        start, stop = starts[first], starts[min(after, len(starts) - 1)]
        if start < end:  # the cells of one row share its line
            continue
        yield Markup(end, start)
        if kind is BlockKind.FORMULA:
            yield from latex_visible.formula(text, start, stop, joins=False)
        elif kind is BlockKind.HTML:
            for mark in html.scan(text[start:stop]):
                yield Markup(start + mark.start, start + mark.stop, mark.joins)
            yield Markup(stop, stop)
        elif kind is BlockKind.CODE:
            yield from _captions(text, start, stop)
        else:
            yield from _line_marks(text, starts[first : after + 1])
            for mark in _inline(text[start:stop], kind is BlockKind.ROW, labels):
                yield Markup(start + mark.start, start + mark.stop, mark.joins)
        end = stop
    yield Markup(end, len(text))


def _captions(text: str, start: int, stop: int) -> Iterator[Markup]:
    """A block of code without the captions in its first line and in Quarto's options."""
    for found in _CAPTION.finditer(text, start, stop):
        first, after = found.span(found.lastindex or 0)
        yield Markup(start, first)
        start = after
    yield Markup(start, stop)


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
    brackets: list[str] = []  # what opened each one: a link, an image or a note
    last_comment_end = block.rfind("-->")
    while found := _INLINE.search(block, at):
        mark = Markup(*found.span(), joins=not (is_row and found["cell"]))
        opened = ""
        if found["note"] or found["reference"] or found["marks"] in ("[", "!["):
            brackets.append(found.group().partition("[")[0])
        elif brackets and block[found.start()] == "]":
            opened = brackets.pop()
        if found["code"]:
            closing = re.compile(rf"(?<!`){found['ticks']}(?!`)").search(block, mark.stop)
            mark = mark._replace(stop=closing.end() if closing else mark.stop)
        elif found["comment"]:
            if mark.stop <= last_comment_end:
                mark = mark._replace(stop=block.find("-->", mark.stop) + len("-->"))
            else:  # never closed, and so what readers see
                mark = mark._replace(start=mark.stop)
        elif found["mathematics"]:
            yield from latex_visible.formula(block, *found.span(), joins=True)
            mark = mark._replace(start=mark.stop)
        elif found["note"] or opened == "^":
            mark = mark._replace(joins=False)
        elif found["title"] and opened == "!":
            yield Markup(mark.start, found.start("title") + 1)
            mark = Markup(found.end("title") - 1, mark.stop)
        elif found["reference"] and normal_label(found["label"]) not in labels:
            mark = mark._replace(stop=found.start("label"))  # just brackets, and what they hold is prose
        elif found["tag"]:
            mark = html.element(block, found["tag"].lower(), *found.span())
        yield mark
        at = mark.stop
