"""The prose of AsciiDoc: paragraphs, titles, lists, cells, and the texts of macros."""

import re
from collections.abc import Iterator
from itertools import pairwise

from nmspeller.apps.documents.markup import Markup, line_starts
from nmspeller.text.patterns import lazy_pattern

_NOT_PROSE = lazy_pattern(r"-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,}")  # delimits a listing, a literal text, a comment
_DELIMITER = lazy_pattern(r"={4,}|\*{4,}|_{4,}|--|[|!,:]={3,}|'{3,}|<{3,}")
_ATTRIBUTE = lazy_pattern(r":!?(?P<name>[\w-]+)!?:(?=[ \t]|$)[ \t]*")
_SHOWN = frozenset(("description", "doctitle", "title"))
_BLOCK_ATTRIBUTES = lazy_pattern(r"\[[^\[\]]*\]|\[\[[^\[\]]*\]\]")
_CODE_STYLE = lazy_pattern(
    r"\[(?:(?:source|listing|literal|stem|latexmath|asciimath|pass|comment)\b|,)[^\[\]]*\]"
)
_PREFIX = lazy_pattern(
    r"""
      (?:=+|\#+)[ \t]+(?=\S)                                  # a heading
    | \.(?=[^\s.])                                            # the title of a block
    | [ \t]*(?:[*.]{1,6}|-|\d+\.|[a-z]\.)[ \t]+(?:\[[ x*]\][ \t]+)?   # an item of a list
    | [ \t]*<(?:\d+|\.)>[ \t]+                                # a note on a line of code
    | (?:NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+
    | \+[ \t]*$                                               # what joins two blocks
    """,
    re.VERBOSE,
)
_BLOCK_MACRO = lazy_pattern(r"(?P<name>[a-z]+)::(?P<target>[^\[\]]*)\[(?P<text>[^\]]*)\][ \t]*")
_DESCRIBED = frozenset(("image", "video", "audio"))
_CELL = lazy_pattern(r"(?<!\\)(?:[\d.+*<>^]{0,12}[a-z]?)\|")
_TERM = lazy_pattern(r":{2,4}(?=[ \t]|$)|;;(?=[ \t]|$)")
_INLINE = lazy_pattern(
    r"""
      (?<![\w;:}])(?P<quote>["'])`(?P<quoted>[^\s`][^`\r\n]*)`(?P=quote)(?!\w)
    | (?P<code>``[^`\r\n]+``|`[^`\r\n]+`|\+\+[^+\r\n]+\+\+|\+[^+\s][^+\r\n]*\+)
    | (?:stem|latexmath|asciimath|kbd|btn|menu|pass|icon|indexterm2?|anchor|counter):
      [^\s\[\]]{0,200}\[[^\]]*\]
    | (?P<note>footnote(?:ref)?:[^\s\[\]]{0,200}\[)
    | (?:link|xref|image|mailto|https?|ftp):[^\s\[\]]{1,400}\[
    | <<[^<>,\r\n]*(?:,|>>)
    | >>
    | \[\[[^\[\]]*\]\]|\[[.\#%][^\[\]\r\n]*\](?=\#)
    | \(\(\([^()\r\n]*\)\)\)                                     # in the index only
    | \(\(|\)\)
    | \{[a-zA-Z_][\w-]*\}
    | &(?:\#\d+|\#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);
    | [*_\#^~]{1,2}
    | [ ]\+$
    | (?P<bracket>\])
    """,
    re.VERBOSE | re.MULTILINE,
)


def scan(text: str) -> Iterator[Markup]:
    """Listings, comments, attributes, macros and marks; each line's own marks, then those inside lines."""
    starts = [*line_starts(text), len(text)]
    delimiter = ""  # of the block that is not read
    in_table = after_blank = False
    is_literal = False  # a paragraph that begins with a blank, or is code by its style
    has_code_style = False  # the block that comes
    for start, stop in pairwise(starts):
        line = text[start:stop].rstrip()
        if delimiter:
            yield Markup(start, stop)
            if line == delimiter:
                delimiter = ""
            continue
        if not line:
            after_blank, is_literal = True, False
            continue
        if _NOT_PROSE.match(line) and (line == line[0] * len(line) or line.startswith("```")):
            delimiter = "```" if line.startswith("```") else line
            has_code_style = False
            yield Markup(start, stop)
        elif _DELIMITER.fullmatch(line):
            in_table ^= line[0] in "|!,:"
            has_code_style = False
            yield Markup(start, stop)
        else:
            prefix = _PREFIX.match(line)
            is_literal |= (after_blank or start == 0) and line[0] in " \t" and not prefix
            if _BLOCK_ATTRIBUTES.fullmatch(line):
                has_code_style |= _CODE_STYLE.fullmatch(line) is not None
            elif has_code_style and not (prefix and prefix.group() == "."):
                is_literal, has_code_style = True, False
            if is_literal:
                yield Markup(start, stop)
            else:
                yield from _line(text, start, stop, line, prefix, in_table)
        after_blank = False


def _line(
    text: str, start: int, stop: int, line: str, prefix: re.Match[str] | None, in_table: bool
) -> Iterator[Markup]:
    attribute = _ATTRIBUTE.match(line)
    macro = _BLOCK_MACRO.fullmatch(line)
    if attribute:
        is_shown = attribute["name"] in _SHOWN
        yield Markup(start, start + attribute.end() if is_shown else stop)
        return
    if (line.startswith("//") and not line.startswith("///")) or _BLOCK_ATTRIBUTES.fullmatch(line):
        yield Markup(start, stop)
        return
    if macro:
        described = macro["name"] in _DESCRIBED and macro["text"]
        comma = macro["text"].find(",")
        end = macro.end("text") if comma < 0 else macro.start("text") + comma
        yield Markup(start, start + macro.start("text") if described else stop)
        if described:
            yield Markup(start + end, stop)
        return
    if prefix:
        yield Markup(start, start + prefix.end())
        if prefix.group()[0] in "=#" or prefix.group() == ".":  # a title is no part of what follows
            yield Markup(start + len(line), stop)
    if in_table:
        yield from (Markup(start + one.start(), start + one.end()) for one in _CELL.finditer(line))
    elif term := _TERM.search(line):
        yield Markup(start + term.start(), start + term.end())
    yield from _inline(text, start, start + len(line))


def _inline(text: str, start: int, stop: int) -> Iterator[Markup]:
    for found in _INLINE.finditer(text, start, stop):
        if found["quoted"]:
            first, after = found.span("quoted")
            yield Markup(found.start(), first, joins=True)
            yield from _inline(text, first, after)
            yield Markup(after, found.end(), joins=True)
        else:
            yield Markup(*found.span(), joins=not found["note"])
