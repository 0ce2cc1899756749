"""Excel workbooks: the texts of cells, shared and their own, and comments on cells."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from zipfile import ZipFile

from nmspeller.apps.documents import package
from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.office import OfficeDocument, TextSpan, assembled
from nmspeller.apps.documents.package import references
from nmspeller.apps.documents.places import Place
from nmspeller.apps.documents.xml_events import Event, XmlSource, events, root, skip
from nmspeller.errors import InputError
from nmspeller.messages import N_, _

_KIND = N_("an Excel workbook")
_MAIN, _SHARED, _SHEETS = names("officeDocument"), names("sharedStrings"), names("worksheet")
_TABLES, _COMMENTS = names("table"), names("comments")


@dataclass(frozen=True)
class CellText(TextSpan):
    """The content of a text element of a cell, and where the cell is."""

    place: Place


class XlsxDocument(OfficeDocument):
    """An Excel workbook; a text that several cells share is read once, at the first of them.

    The headings of tables are not read: formulas and the table itself name its columns by them.
    """

    @classmethod
    def parse(cls, raw: bytes, name: str) -> "XlsxDocument":
        with package.reading(raw, name, _KIND) as archive:
            main = [one.member for one in references(archive, "", _MAIN)]
            if not main or root(XmlSource.of(archive.read(main[0])).xml).local_name != "workbook":
                raise InputError(_("{name} is not an Excel workbook.").format(name=name))
            text, passages, spans, starts = assembled(_texts(archive, main[0]))
        return cls(name, text, passages, raw, spans, starts)

    def place_of(self, offset: int) -> Place:
        span = self.span_at(offset)
        return span.place if isinstance(span, CellText) else super().place_of(offset)


def _texts(archive: ZipFile, main: str) -> Iterator[CellText | str]:
    shared = [list(one) for one in _shared_texts(archive, main)]
    headings = set(_headings(archive, main))
    for sheet, member in _sheets(archive, main):
        for cell, found in _cells(member, XmlSource.of(archive.read(member)).xml):
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
            yield from _comments(reference.member, XmlSource.of(archive.read(reference.member)).xml, sheet)


def _placed(one: TextSpan, place: Place) -> CellText:
    return CellText(one.member, one.start, one.stop, one.text, place)


def _shared_texts(archive: ZipFile, main: str) -> Iterator[list[TextSpan]]:
    """The texts of each shared text, by its number."""
    for reference in references(archive, main, _SHARED):
        walk = events(XmlSource.of(archive.read(reference.member)).xml)
        for event in walk:
            if event.kind == "start" and event.local_name == "si":
                yield list(_runs(reference.member, walk))


def _runs(member: str, walk: Iterator[Event]) -> Iterator[TextSpan]:
    """The texts up to the end of an element whose start tag came last; not those of readings."""
    inside = [""]
    for event in walk:
        if event.kind == "start" and event.local_name == "rPh":
            skip(walk)
        elif event.kind == "start":
            inside.append(event.local_name)
        elif event.kind == "text" and inside[-1] == "t":
            yield TextSpan(member, event.start, event.stop, event.text)
        elif event.kind == "end":
            inside.pop()
            if not inside:
                return


def _cells(member: str, xml: bytes) -> Iterator[tuple[str, int | list[TextSpan]]]:
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
    for event in events(XmlSource.of(archive.read(main)).xml):
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
            for event in events(XmlSource.of(archive.read(table.member)).xml):
                if event.kind == "start" and event.local_name == "tableColumn":
                    yield event.attributes.get("name", "")
