"""Where the texts of an OpenDocument text or presentation are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.places import Marker, Markers, Place
from nmspeller.apps.documents.xml_events import Event, events

_STORIES = {
    "header": "header", "header-left": "header", "header-first": "header",
    "footer": "footer", "footer-left": "footer", "footer-first": "footer",
    "annotation": "comment", "note-body": "footnote", "text-box": "text_box", "page": "slide",
    "notes": "speaker_notes",
}  # fmt: skip
_NUMBERED = names("comment footnote endnote slide")
_PARAGRAPHS = names("p h")


def markers(sources: Mapping[str, bytes]) -> Markers:
    """The markers of each member, given its XML."""
    return {member: list(_markers(xml)) for member, xml in sources.items()}


@dataclass
class _OdfPosition:
    """What is counted on the way through a member; `stories` are the open ones, with their numbers."""

    stories: list[tuple[str, int | str]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    tables_open: int = 0
    table: int = 0
    row: int = 0
    cell: int = 0
    paragraph: int = 0
    is_counted: list[bool] = field(default_factory=list)
    note_class: str = "footnote"

    @property
    def place(self) -> Place:
        in_slide = any(kind == "slide" for kind, _number in self.stories)
        steps = tuple(step for step in self.stories if not (in_slide and step[0] == "text_box"))
        if self.tables_open:
            return Place((*steps, ("table", self.table), ("row", self.row), ("cell", self.cell)))
        return Place(steps or (("paragraph", self.paragraph),))

    def start(self, event: Event) -> None:
        name = event.local_name
        if name == "note":
            classes = (value for key, value in event.attributes.items() if key.endswith("}note-class"))
            self.note_class = next(classes, "footnote")
        if story := _STORIES.get(name):
            story = self.note_class if story == "footnote" and self.note_class in _NUMBERED else story
            self.counts[story] = self.counts.get(story, 0) + 1
            self.stories.append((story, self.counts[story] if story in _NUMBERED else True))
        elif name in _PARAGRAPHS:
            self.is_counted.append(bool(self.tables_open or self.stories))
        elif name == "table":
            self.tables_open += 1
            if self.tables_open == 1:
                self.table, self.row = self.table + 1, 0
        elif name == "table-row" and self.tables_open == 1:
            self.row, self.cell = self.row + 1, 0
        elif name in ("table-cell", "covered-table-cell") and self.tables_open == 1:
            self.cell += 1

    def end(self, event: Event) -> None:
        if event.local_name in _STORIES and self.stories:
            self.stories.pop()
        elif event.local_name in _PARAGRAPHS and self.is_counted:
            self.is_counted.pop()
        elif event.local_name == "table":
            self.tables_open -= 1

    def count_paragraph(self) -> None:
        if self.is_counted and not self.is_counted[-1]:
            self.is_counted[-1] = True
            self.paragraph += 1


def _markers(xml: bytes) -> Iterator[Marker]:
    position = _OdfPosition()
    last: Place | None = None
    for event in events(xml):
        if event.kind == "start":
            position.start(event)
        elif event.kind == "end":
            position.end(event)
        elif event.kind == "text" and position.is_counted and event.text.strip():
            position.count_paragraph()
            place = position.place
            if place != last:
                yield Marker(event.start, place)
                last = place
