"""The prose of reStructuredText: paragraphs, titles, lists, and the text of directives that print it."""

import re
from collections.abc import Iterator
from itertools import pairwise

from nmspeller.apps.documents.markup import Markup, line_starts, names
from nmspeller.text.patterns import lazy_pattern

_PROSE_DIRECTIVES = names(
    "admonition attention caution danger error hint important note tip warning seealso topic sidebar "
    "epigraph highlights pull-quote rubric deprecated versionadded versionchanged centered container "
    "figure list-table glossary compound "
)
_ARGUMENT_NOT_PROSE = names("container figure ")  # a class, a file
_EXPLICIT = lazy_pattern(r"(?P<indent>[ \t]*)\.\.(?:[ \t]+|$)(?P<rest>.*)")
_DIRECTIVE = lazy_pattern(r"(?:\|[^|]+\|[ \t]+)?(?P<name>[\w:+.\-]+)::[ \t]*")
_FOOTNOTE = lazy_pattern(r"\[[^\[\]]+\][ \t]+")
_FIELD = lazy_pattern(r"[ \t]*:[^:\r\n`]+:(?=[ \t]|$)")
_CAPTION = lazy_pattern(r"[ \t]*:caption:(?=[ \t])")
_RULE = lazy_pattern(r"([=\-`:'\"~^_*+#<>.])\1{2,}|[+|=\- ]{3,}")
_BULLET = lazy_pattern(r"[ \t]*(?:[-*+•]|\(?(?:\d+|#|[a-zA-Z])[.)])[ \t]+")
_INLINE = lazy_pattern(
    r"""
      ``.+?``
    | :[\w:+.\-]{1,64}:`[^`]*`         # a role and its text: code, a reference, a formula
    | [ \t]?<[^<>`\r\n]+>`__?          # the target of a link
    | `__?|`|\*\*?|\|[^|\s][^|\r\n]*\|_?
    | \[[^\[\]\s]+\]_
    """,
    re.VERBOSE | re.DOTALL,
)


def scan(text: str) -> Iterator[Markup]:
    """Directives and comments with their content, options, code, rules, roles and inline marks."""
    starts = [*line_starts(text), len(text)]
    skipped_indent: int | None = None  # lines indented deeper than this are not prose
    options_indent: int | None = None  # fields deeper than this are the options of the directive above
    in_options = False  # of a directive of code, which end with its first other line
    in_session = False  # an interpreter session, which ends with its paragraph
    for start, stop in pairwise(starts):
        line = text[start:stop].rstrip("\r\n")
        content = line.strip()
        if not content:
            options_indent, in_session, in_options = None, False, False
            continue
        indent = len(line) - len(line.lstrip())
        in_session |= content.startswith(">>> ")
        if in_session or (skipped_indent is not None and indent > skipped_indent):
            caption = _CAPTION.match(line) if in_options else None
            in_options &= bool(_FIELD.match(line))
            yield Markup(start, start + caption.end() if caption else stop)
            continue
        skipped_indent = None
        if options_indent is not None and indent > options_indent and _FIELD.match(line):
            yield Markup(start, stop)
            continue
        options_indent = None
        explicit = _EXPLICIT.fullmatch(line)
        if explicit:
            prose_at, is_prose = _explicit(explicit["rest"])
            yield Markup(start, start + explicit.start("rest") + prose_at if is_prose else stop)
            if is_prose:
                options_indent = indent
            else:
                skipped_indent = indent
                in_options = _DIRECTIVE.match(explicit["rest"]) is not None
        elif _RULE.fullmatch(content):
            yield Markup(start, stop)
        elif mark := _FIELD.match(line) or _BULLET.match(line):
            yield Markup(start, start + mark.end())
        if not explicit and content.endswith("::"):
            skipped_indent = indent
    yield from (Markup(*found.span(), joins=True) for found in _INLINE.finditer(text))


def _explicit(rest: str) -> tuple[int, bool]:
    """The start of the prose after two dots, and whether there is any: comments and code have none."""
    if directive := _DIRECTIVE.match(rest):
        prose_at = len(rest) if directive["name"] in _ARGUMENT_NOT_PROSE else directive.end()
        return prose_at, directive["name"] in _PROSE_DIRECTIVES
    if footnote := _FOOTNOTE.match(rest):
        return footnote.end(), True
    return 0, False
