"""Excel workbooks: the texts of cells, shared and their own, and comments on cells."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from zipfile import ZipFile

from nmspeller.apps.documents import package
from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.office import OfficeDocument, Piece, assembled
from nmspeller.apps.documents.package import references
from nmspeller.apps.documents.places import Place
from nmspeller.apps.documents.xml_events import Event, Source, escaped, events, root, skip
from nmspeller.errors import InputError
from nmspeller.messages import N_, _

_KIND = N_("an Excel workbook")
_MAIN, _SHARED, _SHEETS = names("officeDocument"), names("sharedStrings"), names("worksheet")
_TABLES, _COMMENTS = names("table"), names("comments")
_SPACE = "http://www.w3.org/XML/1998/namespace}space"
_BLANKS = " \t\r\n"


@dataclass(frozen=True)
class CellText(Piece):
    """A text element of a cell; `tag` is the length of its start tag."""

    place: Place
    tag: int

    def holding(self, text: str, xml: bytes) -> bytes:
        start, stop = xml[self.start : self.start + self.tag], xml[self.start : self.stop]
        end = stop[stop.rindex(b"</") :]
        if text != text.strip(_BLANKS) and b"xml:space" not in start:
            start = start[:-1] + b' xml:space="preserve">'
        return start + escaped(text) + end


class XlsxDocument(OfficeDocument):
    """An Excel workbook; a text that several cells share is read once, at the first of them.

    The headings of tables are not read: formulas and the table itself name its columns by them.
    """

    @classmethod
    def parse(cls, raw: bytes, name: str) -> "XlsxDocument":
        with package.reading(raw, name, _KIND) as archive:
            main = [one.member for one in references(archive, "", _MAIN)]
            if not main or root(Source.of(archive.read(main[0])).xml).local_name != "workbook":
                raise InputError(_("{name} is not an Excel workbook.").format(name=name))
            text, passages, pieces, starts = assembled(_texts(archive, main[0]))
        return cls(name, text, passages, raw, pieces, starts)

    def place_of(self, offset: int) -> Place:
        piece = self.piece_at(offset)
        return piece.place if isinstance(piece, CellText) else super().place_of(offset)


def _texts(archive: ZipFile, main: str) -> Iterator[CellText | str]:
    shared = [list(one) for one in _shared_texts(archive, main)]
    headings = set(_headings(archive, main))
    for sheet, member in _sheets(archive, main):
        for cell, found in _cells(member, Source.of(archive.read(member)).xml):
            texts = found
            if isinstance(found, int):
                texts = shared[found] if found < len(shared) else []
                if found < len(shared):
                    shared[found] = []  # read once
            assert not isinstance(texts, int)
            place = Place((("sheet", sheet), ("address", cell)))
            if texts and "".join(one.text for one in texts) not in headings:
                yield "\n"
                yield from (_placed(one, place) for one in texts)
                yield "\n"
        for reference in references(archive, member, _COMMENTS):
            yield from _comments(reference.member, Source.of(archive.read(reference.member)).xml, sheet)


def _placed(one: CellText, place: Place) -> CellText:
    return CellText(one.member, one.start, one.stop, one.text, place, one.tag)


_NOWHERE = Place(())


def _shared_texts(archive: ZipFile, main: str) -> Iterator[list[CellText]]:
    """The text elements of each shared text, by its number."""
    for reference in references(archive, main, _SHARED):
        walk = events(Source.of(archive.read(reference.member)).xml)
        for event in walk:
            if event.kind == "start" and event.local_name == "si":
                yield list(_runs(reference.member, walk))


def _runs(member: str, walk: Iterator[Event]) -> Iterator[CellText]:
    """The text elements up to the end of an element whose start tag came last; not those of readings."""
    depth = 1
    tag: Event | None = None
    content = ""
    for event in walk:
        if event.kind == "start" and event.local_name == "rPh":
            skip(walk)
        elif event.kind == "start":
            depth += 1
            tag, content = (event, "") if event.local_name == "t" else (None, "")
        elif event.kind == "text" and tag:
            content += event.text
        elif event.kind == "end":
            depth -= 1
            if tag and event.local_name == "t" and content:
                if tag.attributes.get(_SPACE) != "preserve":
                    content = content.strip(_BLANKS)
                yield CellText(member, tag.start, event.stop, content, _NOWHERE, tag.stop - tag.start)
            tag = None
            if not depth:
                return


def _cells(member: str, xml: bytes) -> Iterator[tuple[str, int | list[CellText]]]:
    """The name of each cell with a text, and the number of the shared text or the cell's own."""
    walk = events(xml)
    cell, is_shared, in_value = "", False, False
    for event in walk:
        if event.kind == "start" and event.local_name == "c":
            cell, is_shared = event.attributes.get("r", ""), event.attributes.get("t") == "s"
        elif event.kind == "start" and event.local_name == "is":
            yield cell, list(_runs(member, walk))
        elif event.kind == "start":
            in_value = event.local_name == "v"
        elif event.kind == "text" and in_value and is_shared and event.text.strip().isdecimal():
            yield cell, int(event.text[:9])
        elif event.kind == "end":
            in_value = False


def _comments(member: str, xml: bytes, sheet: str) -> Iterator[CellText | str]:
    walk = events(xml)
    for event in walk:
        if event.kind == "start" and event.local_name == "comment":
            place = Place(
                (("sheet", sheet), ("address", event.attributes.get("ref", "")), ("cell_comment", True))
            )
            yield "\n"
            yield from (_placed(one, place) for one in _runs(member, walk))
            yield "\n"


def _sheets(archive: ZipFile, main: str) -> Iterator[tuple[str, str]]:
    """The name and the member of each sheet, in order."""
    members = {one.id: one.member for one in references(archive, main, _SHEETS)}
    seen = set()
    for event in events(Source.of(archive.read(main)).xml):
        if event.kind == "start" and event.local_name == "sheet":
            ids = (value for key, value in event.attributes.items() if key.endswith("relationships}id"))
            member = members.get(next(ids, ""))
            if member and member not in seen:
                seen.add(member)
                yield event.attributes.get("name", posixpath.basename(member)), member


def _headings(archive: ZipFile, main: str) -> Iterator[str]:
    """The names of the columns of all tables."""
    for _sheet, member in _sheets(archive, main):
        for table in references(archive, member, _TABLES):
            for event in events(Source.of(archive.read(table.member)).xml):
                if event.kind == "start" and event.local_name == "tableColumn":
                    yield event.attributes.get("name", "")
