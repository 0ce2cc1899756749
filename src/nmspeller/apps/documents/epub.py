"""EPUB books: the prose of their pages, in the order in which they are read."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from urllib.parse import unquote
from zipfile import ZipFile

from nmspeller.apps.documents import package, prose
from nmspeller.apps.documents.office import OfficeDocument, TextSpan, assembled
from nmspeller.apps.documents.places import Place
from nmspeller.apps.documents.xml_events import XmlSource, events
from nmspeller.errors import InputError
from nmspeller.messages import N_, _
from nmspeller.text.patterns import lazy_pattern

_KIND = N_("an EPUB book")
_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
# A bracket or an ampersand in the prose stays as it is written, even where it is a mistake in the page.
_PLAIN = lazy_pattern("[^<>&]+|[<>&]")
_PAGE, _CONTENTS = "application/xhtml+xml", "application/x-dtbncx+xml"


@dataclass(frozen=True)
class PageText(TextSpan):
    """Some prose of a page, without markup, and where it is."""

    place: Place


class EpubDocument(OfficeDocument):
    """An EPUB book."""

    @classmethod
    def parse(cls, raw: bytes, name: str) -> "EpubDocument":
        with package.reading(raw, name, _KIND) as archive:
            book = _book(archive)
            if book is None:
                raise InputError(_("{name} is not an EPUB book.").format(name=name))
            members = list(_members(archive, book))
            if set(members) & set(_encrypted(archive)):
                raise InputError(
                    _("{name} is copy-protected; check a copy without the protection.").format(name=name)
                )
            found = (
                one for member in members for one in _texts(member, XmlSource.of(archive.read(member)).xml)
            )
            text, passages, spans, starts = assembled(found)
        return cls(name, text, passages, raw, spans, starts)

    def place_of(self, offset: int) -> Place:
        span = self.span_at(offset)
        return span.place if isinstance(span, PageText) else super().place_of(offset)


def _book(archive: ZipFile) -> str | None:
    """The member that lists all others."""
    if _CONTAINER not in archive.namelist():
        return None
    for event in events(XmlSource.of(archive.read(_CONTAINER)).xml):
        if event.kind == "start" and event.local_name == "rootfile":
            member = event.attributes.get("full-path", "")
            return member if member in archive.namelist() else None
    return None


def _members(archive: ZipFile, book: str) -> Iterator[str]:
    """The pages in the order of reading, then others that are not in it, and the old table of contents."""
    pages: dict[str, str] = {}
    order: list[str] = []
    others: list[str] = []
    existing = set(archive.namelist())
    for event in events(XmlSource.of(archive.read(book)).xml):
        if event.kind != "start":
            continue
        if event.local_name == "item":
            path = posixpath.join(posixpath.dirname(book), unquote(event.attributes.get("href", "")))
            type, id = event.attributes.get("media-type"), event.attributes.get("id", "")
            member = posixpath.normpath(path)
            if member in existing and type in (_PAGE, _CONTENTS):
                pages[id] = member
                others += [member]
        elif event.local_name == "itemref":
            order.append(event.attributes.get("idref", ""))
    yield from dict.fromkeys([*(pages[id] for id in order if id in pages), *others])


def _encrypted(archive: ZipFile) -> Iterator[str]:
    if _ENCRYPTION in archive.namelist():
        for event in events(XmlSource.of(archive.read(_ENCRYPTION)).xml):
            if event.kind == "start" and event.local_name == "CipherReference":
                yield unquote(event.attributes.get("URI", ""))


def _texts(member: str, xml: bytes) -> Iterator[PageText | str]:
    """The spans of each passage, with a line end after each passage."""
    text = xml.decode()
    is_contents = not member.endswith(("htm", "html", "xhtml")) and "<ncx" in text
    found = prose.passages(text, "xml" if is_contents else "html")
    # Each character's first byte, to place the spans in the bytes of the member.
    starts = [0, *accumulate(len(character.encode()) for character in text)]
    file = posixpath.basename(member)
    for number, passage in enumerate(found, 1):
        place = Place((("file", file), ("paragraph", number)))
        yield "\n"
        for start, stop in passage.spans:
            for run in _PLAIN.finditer(text, start, stop):
                if run.group() in "<>&":
                    yield run.group()
                else:
                    begin, end = run.span()
                    yield PageText(member, starts[begin], starts[end], run.group(), place)
        yield "\n"
