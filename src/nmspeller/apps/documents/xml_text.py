"""The prose of XML such as Android's `strings.xml`, `.resx` and XLIFF: the text of elements, and comments."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents import placeholders, xliff
from nmspeller.apps.documents.markup import Markup, names
from nmspeller.apps.documents.values import BACKSLASH, escapes
from nmspeller.text.patterns import lazy_pattern

# Type inside a text of Android, and the placeholders of XLIFF; without the prefix of a namespace.
_INLINE = names("a annotation b bpt bx ept ex em font g i it mrk pc ph small strong sub sup tt u x")
# What a placeholder holds is an example of what a program puts there.
_SKIPPED = names("xliff:g")
_NEXT = lazy_pattern(
    r"""
      <!--(?P<comment>(?:[^-]|-(?!->))*)(?:-->)?
    | (?P<cdata><!\[CDATA\[|\]\]>)
    | <[!?][^<>]*>?
    | </?(?P<name>[a-zA-Z_][^\s/<>]*)(?:[^<>"']|"[^"<]*"|'[^'<]*')*>?
    """,
    re.VERBOSE,
)


def scan(text: str) -> Iterator[Markup]:
    """Tags with their attributes, CDATA marks, entities, escapes and placeholders; each comment is a text."""
    yield from xliff.unread(text)
    end = at = 0
    while found := _NEXT.search(text, at):
        yield from _within(text, end, found.start())
        at = end = found.end()
        name = found["name"] or ""
        if found["comment"] is not None:
            yield Markup(found.start(), found.start("comment"))
            yield Markup(found.end("comment"), end)
        elif name in _SKIPPED and not found.group().startswith("</") and not found.group().endswith("/>"):
            closing = text.find(f"</{name}", end)
            at = end = closing if closing >= 0 else len(text)
            yield Markup(found.start(), end, joins=True)
        else:
            yield Markup(found.start(), end, joins=name.rpartition(":")[2] in _INLINE)
    yield from _within(text, end, len(text))


def _within(text: str, start: int, stop: int) -> Iterator[Markup]:
    if start < stop:
        yield from escapes(text, start, stop, BACKSLASH)
        yield from placeholders.scan(text, start, stop)
