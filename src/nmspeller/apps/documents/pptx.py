"""PowerPoint presentations: the text of slides and of their notes."""

from collections.abc import Iterator
from functools import cached_property
from io import BytesIO
from zipfile import ZipFile

from nmspeller.apps.documents import package
from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.office import OBJECT, OfficeDocument, TextSpan, assembled
from nmspeller.apps.documents.package import references
from nmspeller.apps.documents.places import Marker, Markers, Place
from nmspeller.apps.documents.xml_events import XmlSource, events, root
from nmspeller.errors import InputError
from nmspeller.messages import N_, _

_KIND = N_("a PowerPoint presentation")
_MAIN, _SLIDES, _NOTES = names("officeDocument"), names("slide"), names("notesSlide")
# The namespace of text, in the dialects transitional and strict.
_DRAWING = (
    "http://schemas.openxmlformats.org/drawingml/2006/main",
    "http://purl.oclc.org/ooxml/drawingml/main",
)


class PptxDocument(OfficeDocument):
    """A PowerPoint presentation."""

    @classmethod
    def parse(cls, raw: bytes, name: str) -> "PptxDocument":
        with package.reading(raw, name, _KIND) as archive:
            main = [one.member for one in references(archive, "", _MAIN)]
            if not main or root(XmlSource.of(archive.read(main[0])).xml).local_name != "presentation":
                raise InputError(_("{name} is not a PowerPoint presentation.").format(name=name))
            members = [
                member
                for slide in _slides(archive, main[0])
                for member in (slide, *(one.member for one in references(archive, slide, _NOTES)))
            ]
            found = (
                one for member in members for one in _texts(member, XmlSource.of(archive.read(member)).xml)
            )
            text, passages, spans, starts = assembled(found)
        return cls(name, text, passages, raw, spans, starts)

    @cached_property
    def markers(self) -> Markers:
        with ZipFile(BytesIO(self.raw)) as archive:
            [main, *_others] = [one.member for one in references(archive, "", _MAIN)]
            found: dict[str, list[Marker]] = {}
            for number, slide in enumerate(_slides(archive, main), 1):
                found[slide] = [Marker(0, Place((("slide", number),)))]
                for notes in references(archive, slide, _NOTES):
                    found[notes.member] = [Marker(0, Place((("slide", number), ("speaker_notes", True))))]
        return found


def _slides(archive: ZipFile, main: str) -> list[str]:
    """The slides in the order in which they are shown."""
    ids = [
        value
        for event in events(XmlSource.of(archive.read(main)).xml)
        if event.kind == "start" and event.local_name == "sldId"
        for key, value in event.attributes.items()
        if key.endswith("relationships}id")
    ]
    slides = {one.id: one.member for one in references(archive, main, _SLIDES)}
    return list(dict.fromkeys(slides[id] for id in ids if id in slides))


def _texts(member: str, xml: bytes) -> Iterator[TextSpan | str]:
    """The text of runs, with line breaks and formulas between them.

    Fields, such as the slide's number, have none.
    """
    inside: list[str] = []
    for event in events(xml):
        if event.kind == "text" and inside[-2:] == ["r", "t"]:
            yield TextSpan(member, event.start, event.stop, event.text)
        elif event.kind == "start":
            inside.append(event.local_name if event.namespace in _DRAWING else event.name)
            if inside[-1] in ("p", "br"):
                yield "\n"
            elif event.local_name == "oMath":
                yield OBJECT
        elif event.kind == "end" and inside.pop() == "p":
            yield "\n"
