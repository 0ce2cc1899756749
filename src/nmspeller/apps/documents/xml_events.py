"""The markup of an XML part, with the place of each tag and text in its bytes."""

import codecs
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple
from xml.parsers import expat

from nmspeller.messages import _
from nmspeller.text.patterns import lazy_pattern

_CHUNK = 1 << 16
_DEEPEST = 256  # as libxml2
MOST_TAGS = 2_000_000
"""How many tags a part may have: a book has some hundred thousand, and these take about six seconds."""
_DECLARED = lazy_pattern(rb"<\?xml[^>]*?\bencoding\s*=\s*[\"']([A-Za-z0-9._\-]+)")
_NOT_IN_XML = lazy_pattern("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NO_ATTRIBUTES: Mapping[str, str] = {}


class Unreadable(ValueError):
    """What is wrong with a part, in words of our own; other exceptions speak the language of a library."""


class Event(NamedTuple):
    """A start tag, an end tag, a text or anything else (a comment, an instruction) from `start` to `stop`.

    A name is the namespace, `}` and the local name. The end of an empty element has no bytes.
    """

    kind: str
    start: int
    stop: int
    name: str = ""
    attributes: Mapping[str, str] = _NO_ATTRIBUTES
    text: str = ""

    @property
    def namespace(self) -> str:
        return self.name.rpartition("}")[0]

    @property
    def local_name(self) -> str:
        return self.name.rpartition("}")[2]

    def within(self, xml: bytes) -> bytes:
        """The bytes of the event."""
        return xml[self.start : self.stop]


class XmlSource(NamedTuple):
    """A part in UTF-8, and the codec that it is written in."""

    xml: bytes
    codec: str = "utf-8"

    @classmethod
    def of(cls, raw: bytes) -> "XmlSource":
        codec = "utf-8"
        if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            codec = "utf-16-le" if raw.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
        elif declared := _DECLARED.match(raw.removeprefix(codecs.BOM_UTF8)):
            codec = codecs.lookup(declared[1].decode()).name
        return cls(raw if codec == "utf-8" else raw.decode(codec).encode(), codec)

    def with_splices(self, splices: "list[Splice]") -> bytes:
        """The part with some ranges replaced; they do not overlap."""
        output: list[bytes] = []
        end = 0
        for splice in sorted(splices, key=lambda one: (one.start, one.stop)):
            output += (self.xml[end : splice.start], splice.xml)
            end = splice.stop
        changed = b"".join((*output, self.xml[end:]))
        return changed if self.codec == "utf-8" else changed.decode().encode(self.codec, "xmlcharrefreplace")


class Splice(NamedTuple):
    """What replaces bytes `start` to `stop` of a part."""

    start: int
    stop: int
    xml: bytes


def events(xml: bytes) -> Iterator[Event]:
    """Everything in some UTF-8, in order.

    A document type raises `Unreadable`: Office files have none, and its entities can expand without limit. So
    do elements that are nested very deeply, and more tags than a document that someone wrote has.
    """
    if tags_in(xml) > MOST_TAGS:
        raise too_many_elements()
    parser: Any = expat.ParserCreate("utf-8", "}")
    found: list[list[Any]] = []  # the arguments of events; the last one's `stop` is not yet known
    depth = 0

    def markup(kind: str, name: str = "", attributes: Mapping[str, str] = _NO_ATTRIBUTES) -> None:
        found.append([kind, parser.CurrentByteIndex, 0, name, attributes, ()])

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise Unreadable(_("its elements are nested too deeply"))
        markup("start", name, attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        markup("end", name)

    def text(content: str) -> None:
        if not found or found[-1][0] != "text":
            found.append(["text", parser.CurrentByteIndex, 0, "", _NO_ATTRIBUTES, []])
        found[-1][5].append(content)

    def document_type(*_declaration: object) -> None:
        raise Unreadable(_("it has a document type declaration"))

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartCdataSectionHandler = lambda: text("")
    parser.CommentHandler = lambda content: markup("other")
    parser.ProcessingInstructionHandler = lambda target, content: markup("other")
    parser.StartDoctypeDeclHandler = document_type
    for at in range(0, len(xml) + 1, _CHUNK):
        parser.Parse(xml[at : at + _CHUNK], at + _CHUNK > len(xml))
        for one, after in pairwise(found):
            one[2], one[5] = after[1], "".join(one[5])
            yield Event(*one)
        del found[:-1]
    for one in found:
        one[2], one[5] = max(one[1], xml.find(b">", one[1]) + 1), ""
        yield Event(*one)


def tags_in(xml: bytes) -> int:
    """How many tags there are at most, an empty element counted twice, without reading them."""
    return xml.count(b"<") + xml.count(b"/>")


def too_many_elements() -> Unreadable:
    """The error of a document that would take too long to read."""
    return Unreadable(_("it has too many elements"))


def skip(walk: Iterator[Event]) -> None:
    """Leave out the rest of the element whose start tag came last."""
    depth = 1
    while depth:
        kind = next(walk).kind
        depth += (kind == "start") - (kind == "end")


def root(xml: bytes) -> Event:
    """The start tag of the outermost element."""
    return next(event for event in events(xml) if event.kind == "start")


def at_end(xml: bytes, content: bytes) -> Splice:
    """What adds some XML at the end of the outermost element."""
    *_others, end = (event for event in events(xml) if event.kind == "end")
    if end.start < end.stop:
        return Splice(end.start, end.start, content)
    tag = root(xml).within(xml)  # an empty element, <root/>
    return Splice(end.start - 2, end.stop, b">%s</%s>" % (content, tag_name(tag)))


def tag_name(tag: bytes) -> bytes:
    """The name in a tag, with its prefix."""
    found = re.match(rb"</?([^\s/>]+)", tag)
    return found[1] if found else b""


def escaped(text: str) -> bytes:
    """A text as XML has it."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    return text.encode()


def can_hold(text: str) -> bool:
    """Whether XML can hold all characters of a text."""
    return not _NOT_IN_XML.search(text)
