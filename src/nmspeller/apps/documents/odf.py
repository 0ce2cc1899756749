"""OpenDocument texts and presentations: the paragraphs of the content, and of headers and footers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from nmspeller.apps.documents import odf_places, package
from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.office import OBJECT, OfficeDocument, TextSpan, assembled
from nmspeller.apps.documents.places import Markers
from nmspeller.apps.documents.xml_content import TextReplacement, with_text
from nmspeller.apps.documents.xml_events import Event, XmlSource, events, skip, tag_name
from nmspeller.messages import N_

_KIND = N_("an OpenDocument file")
# Headers and footers are styles of a page; the styles of slides have only the program's own words.
_CONTENT, _STYLES = "content.xml", "styles.xml"
_PRESENTATION = b"application/vnd.oasis.opendocument.presentation"
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_PARAGRAPHS = names("p h")
# Elements whose own text is prose; others, such as fields, hold what the program computes.
_INLINE = names("p h span a meta ruby-base")
_COUNTS = names("1 2 3 4 5 6 7 8")
_SKIPPED = names("tracked-changes ruby-text note-citation")


@dataclass(frozen=True)
class Blanks(TextSpan):
    """An element that stands for blanks, since several in a text are shown as one."""

    def with_text(self, replacements: Sequence[TextReplacement], xml: bytes) -> bytes:
        blank = b"<%s/>" % tag_name(xml[self.start : self.stop])
        return with_text(self.text.encode(), replacements).replace(b" ", blank)


class OdfDocument(OfficeDocument):
    """An OpenDocument text or presentation."""

    @classmethod
    def parse(cls, raw: bytes, name: str) -> "OdfDocument":
        with package.reading(raw, name, _KIND) as archive:
            if b"encryption-data" in archive.read("META-INF/manifest.xml"):
                raise package.has_password(name)
            is_presentation = archive.read("mimetype").startswith(_PRESENTATION)
            has_styles = not is_presentation and _STYLES in archive.namelist()
            members = (_CONTENT, _STYLES) if has_styles else (_CONTENT,)
            sources = {member: XmlSource.of(archive.read(member)).xml for member in members}
            found = (one for member, xml in sources.items() for one in _texts(member, xml))
            text, passages, spans, starts = assembled(found)
        return cls(name, text, passages, raw, spans, starts)

    @cached_property
    def markers(self) -> Markers:
        return odf_places.markers({member: one.xml for member, one in self.sources().items()})


def _texts(member: str, xml: bytes) -> Iterator[TextSpan | str]:
    """The text of paragraphs, with line breaks, tabs and objects between them."""
    walk = events(xml)
    inside: list[str] = []
    for event in walk:
        if event.kind == "text" and inside and inside[-1] in _INLINE:
            yield TextSpan(member, event.start, event.stop, event.text)
        elif event.kind == "end" and inside.pop() in _PARAGRAPHS:
            yield "\n"  # at both ends: a paragraph may be inside another one, in a note or a frame
        if event.kind != "start":
            continue
        name = event.local_name if event.namespace == _TEXT else event.name
        if name in _SKIPPED:
            skip(walk)
            continue
        inside.append(name)
        if name in _PARAGRAPHS or name == "line-break":
            yield "\n"
        elif name == "tab":
            yield "\t"
        elif name == "s":
            yield from _blanks(member, event)
        elif event.local_name == "frame" and event.attributes.get(f"{_TEXT}}}anchor-type") == "as-char":
            yield OBJECT


def _blanks(member: str, event: Event) -> Iterator[TextSpan | str]:
    count = event.attributes.get(f"{_TEXT}}}c", "1")
    if count in _COUNTS:
        yield Blanks(member, event.start, event.stop, " " * int(count))
    else:
        yield "\t"  # as a gap, however long: a few bytes must not become gigabytes
