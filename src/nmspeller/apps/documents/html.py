"""The prose of HTML: what a reader sees between the tags."""

import re
from collections.abc import Container, Iterator

from nmspeller.apps.documents import html_attributes
from nmspeller.apps.documents.html_languages import OpenElements
from nmspeller.apps.documents.markup import Markup, names
from nmspeller.text.patterns import lazy_pattern

_INLINE = names(
    "a abbr acronym b bdi bdo big cite data del dfn em font i img ins label mark math nobr q rb ruby s "
    "small span strike strong sub sup textpath time tt tspan u wbr "
)
_INLINE_CODE = names("code kbd rp rt samp var ")
_SKIPPED = _INLINE_CODE | names("math metadata noscript pre script style template ")
_READINGS = names("rp rt")  # whose closing tags may be left out
_RAW = names("script style")  # whose text ends at the first closing tag, without nested tags

TEMPLATE = (
    r"\{\{(?:(?!\{\{|\}\}).)*\}\}|\{%(?:(?!\{%|%\}).)*%\}|\{\#[^{}]*\#\}"
    r"|<%(?:(?!<%|%>).)*%>|<\?(?:php\b|=)(?:(?!\?>).)*(?:\?>|\Z)"
)
"""Placeholders of template languages, which a program replaces."""

_NEXT = lazy_pattern(
    rf"(?P<joins>{TEMPLATE}|&(?:\#\d+|\#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);)"
    r"|<!--|<[!?]|</?(?P<name>[a-zA-Z][^\s/>]*)",
    re.DOTALL,
)
_READING_END = lazy_pattern(
    r"(?P<closing></r[pt](?=[\s/>]))|<(?:/ruby|/?rtc|r[bpt])(?=[\s/>])", re.IGNORECASE
)
_VALUE_OR_END = lazy_pattern(rf"(?P<end>>)|=\s*(?P<quote>[\"'])|{TEMPLATE}", re.DOTALL)


def scan(text: str, read: Container[str] = html_attributes.READ) -> Iterator[Markup]:
    """Tags, comments, entities and templates; all of scripts, styles, code, Japanese and Korean.

    An element that is never closed extends to the end. The values of the attributes `read` are texts of their
    own.
    """
    elements = OpenElements()
    at = 0
    while found := _NEXT.search(text, at):
        start, name = found.start(), (found["name"] or "").lower()
        if not elements.are_chinese and at < start:
            yield Markup(at, start, joins=True)
        if found["joins"]:
            at = found.end()
            yield Markup(start, at, joins=True)
        elif found.group() == "<!--":
            at = _after(text, "-->", found.end())
            yield Markup(start, at, joins=True)
        elif not name:
            at = _after(text, ">", found.end())
            yield Markup(start, at)
        else:
            tag_end = _tag_end(text, found.end())
            mark = element(text, name, start, tag_end)
            at = mark.stop
            if at == tag_end:
                elements.take(name, text[start:tag_end])
            if elements.are_chinese:
                yield from html_attributes.around(text, name, tag_end, mark, read)
            else:
                yield mark
    if not elements.are_chinese and at < len(text):
        yield Markup(at, len(text), joins=True)


def element(text: str, name: str, start: int, tag_end: int) -> Markup:
    """The tag of this name from `start` to `tag_end`; where its element is not read, all of that."""
    opens = text[start + 1] != "/" and text[tag_end - 2] != "/"
    stop = tag_end
    if opens and name in _SKIPPED:
        stop = _reading_end(text, stop) if name in _READINGS else _element_end(text, name, stop)
    return Markup(start, stop, joins=name in _INLINE or name in _INLINE_CODE)


def _tag_end(text: str, at: int) -> int:
    """After the `>` that closes a tag; one inside a quoted value or a template does not."""
    while found := _VALUE_OR_END.search(text, at):
        if found["end"]:
            return found.end()
        at = _after(text, found["quote"], found.end()) if found["quote"] else found.end()
    return len(text)


def _element_end(text: str, name: str, at: int) -> int:
    """After the closing tag of an element whose opening tag ends at `at`; the same name may be nested."""
    depth = 1
    nests = name not in _RAW
    for found in re.compile(rf"<(/?){name}(?=[\s/>])", re.IGNORECASE).finditer(text, at):
        depth += -1 if found.group(1) else nests
        if not depth:
            return _tag_end(text, found.end())
    return len(text)


def _reading_end(text: str, at: int) -> int:
    """After the closing tag of a reading, or before the next part or the end of its `ruby`."""
    found = _READING_END.search(text, at)
    if not found:
        return len(text)
    return _tag_end(text, found.end()) if found["closing"] else found.start()


def _after(text: str, mark: str, at: int) -> int:
    end = text.find(mark, at)
    return len(text) if end < 0 else end + len(mark)
