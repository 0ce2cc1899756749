"""Where the texts of a Word document are, as Word shows and counts them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.places import Marker, Markers, Place
from nmspeller.apps.documents.word_copies import ALTERNATIVES, BRANCHES
from nmspeller.apps.documents.xml_events import Event, events

REFERENCES = {
    "footnoteReference": "footnote",
    "endnoteReference": "endnote",
    "commentReference": "comment",
}
_NOTES = names("footnote endnote comment")
_PAGE_BREAK = b"lastRenderedPageBreak"


def markers(sources: Mapping[str, bytes], body: str) -> Markers:
    """The markers of each member, given its XML."""
    numbers = _numbers_of_notes(sources[body]) if body in sources else {}
    return {
        member: list(_markers(xml, _Position(numbers, knows_pages=member == body and _PAGE_BREAK in xml)))
        for member, xml in sources.items()
    }


def _numbers_of_notes(xml: bytes) -> dict[tuple[str, str], int]:
    """The number of each note and comment, by its kind and id: the text that refers to them numbers them."""
    numbers: dict[tuple[str, str], int] = {}
    count: Counter[str] = Counter()
    for event in events(xml):
        kind = REFERENCES.get(event.local_name) if event.kind == "start" else None
        if kind and (kind, id_of(event)) not in numbers:
            count[kind] += 1
            numbers[kind, id_of(event)] = count[kind]
    return numbers


def id_of(event: Event) -> str:
    return next((value for name, value in event.attributes.items() if name.endswith("}id")), "")


@dataclass
class _Position:
    """What is counted on the way through a member."""

    numbers: Mapping[tuple[str, str], int]
    knows_pages: bool
    story: tuple[tuple[str, int | str], ...] = ()  # a header, a note
    page: int = 1
    paragraph: int = 0
    is_counted: list[bool] = field(default_factory=list)  # of each open paragraph
    table: int = 0
    tables_open: int = 0
    text_boxes_open: int = 0
    row: int = 0
    cell: int = 0
    row_page: int = 1  # where the row began: each of its cells begins there
    furthest_page: int = 1
    choices: list[list[int]] = field(default_factory=list)  # of tables: before each, after its branches

    @property
    def place(self) -> Place:
        steps = self.story
        if self.knows_pages:
            steps = (*steps, ("page", self.page))
        if self.tables_open:
            return Place((*steps, ("table", self.table), ("row", self.row), ("cell", self.cell)))
        if self.text_boxes_open:
            return Place((*steps, ("text_box", True)))
        return Place(steps if self.story else (*steps, ("paragraph", self.paragraph)))

    def start(self, event: Event) -> None:
        name = event.local_name
        if name == "p":
            self.is_counted.append(bool(self.tables_open or self.text_boxes_open))
        elif name == "tbl":
            self.tables_open += 1
            if self.tables_open == 1:
                self.table, self.row = self.table + 1, 0
        elif name == "tr" and self.tables_open == 1:
            self.row, self.cell, self.row_page = self.row + 1, 0, self.page
        elif name == "tc" and self.tables_open == 1:
            self.cell, self.page = self.cell + 1, self.row_page
        elif name == "txbxContent":
            self.text_boxes_open += 1
        elif name == "lastRenderedPageBreak":
            self.page += 1
            self.furthest_page = max(self.furthest_page, self.page)
        elif name in _NOTES:
            self.story = ((name, self.numbers.get((name, id_of(event)), 1)),)
        elif name in ("hdr", "ftr"):
            self.story = (("header" if name == "hdr" else "footer", True),)
        elif event.name == ALTERNATIVES:
            self.choices.append([self.table])
        elif event.name in BRANCHES and self.choices:
            self.table = self.choices[-1][0]  # readers see one of the branches

    def end(self, event: Event) -> None:
        name = event.local_name
        if name == "p" and self.is_counted:
            self.is_counted.pop()
        elif name == "tbl":
            self.tables_open -= 1
        elif name == "tr" and self.tables_open == 1:
            self.page = self.furthest_page
        elif name == "txbxContent":
            self.text_boxes_open -= 1
        elif event.name in BRANCHES and self.choices:
            self.choices[-1].append(self.table)
        elif event.name == ALTERNATIVES:
            self.table = max(self.choices.pop())

    def count_paragraph(self) -> None:
        if self.is_counted and not self.is_counted[-1]:
            self.is_counted[-1] = True
            self.paragraph += 1


def _markers(xml: bytes, position: _Position) -> Iterator[Marker]:
    last: Place | None = None
    for event in events(xml):
        if event.kind == "end":
            position.end(event)
        elif event.kind == "start":
            position.start(event)
            if event.local_name == "t":
                position.count_paragraph()
                place = position.place
                if place != last:
                    yield Marker(event.start, place)
                    last = place
