"""Who inserted what in a Word document, as tracked changes that are not yet accepted."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.word_places import REFERENCES, id_of
from nmspeller.apps.documents.xml_events import Event, events

_INSERTIONS = names("ins moveTo cellIns")
_PROPERTIES = names("trPr tcPr")

Notes = Mapping[tuple[str, str], str]
"""By its kind and id, who inserted a note."""


class _Insertion(NamedTuple):
    """The element that is so many levels deep is inserted, with all that it holds."""

    depth: int
    author: str


def inserted_notes(xml: bytes) -> Notes:
    """The notes that an insertion refers to; what they say is elsewhere, where nothing may tell of it."""
    return {
        (REFERENCES[event.local_name], id_of(event)): author
        for event, author in with_inserters(xml, {})
        if author is not None and event.local_name in REFERENCES
    }


def with_inserters(xml: bytes, notes: Notes) -> Iterator[tuple[Event, str | None]]:
    """Each start tag, and the author of the innermost insertion that it is in; None where it is in none."""
    open_elements: list[str] = []
    insertions: list[_Insertion] = []
    for event in events(xml):
        if event.kind == "start":
            above = open_elements[-1] if open_elements else ""
            open_elements.append(event.local_name)
            depth = len(open_elements)
            if event.local_name in _INSERTIONS:
                # Among the properties of a row or a cell it tells of the whole row or cell.
                insertions.append(_Insertion(depth - 2 if above in _PROPERTIES else depth, _author(event)))
            elif (author := notes.get((event.local_name, id_of(event)))) is not None:
                insertions.append(_Insertion(depth, author))
            yield event, insertions[-1].author if insertions else None
        elif event.kind == "end":
            while insertions and insertions[-1].depth == len(open_elements):
                insertions.pop()
            open_elements.pop()


def _author(insertion: Event) -> str:
    return next((value for name, value in insertion.attributes.items() if name.endswith("}author")), "")
