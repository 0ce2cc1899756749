"""Word documents: the text of their runs, in the body, tables, text boxes, headers, footers and notes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from nmspeller.apps.documents import package, word_places
from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.office import OfficeDocument, assembled
from nmspeller.apps.documents.package import references
from nmspeller.apps.documents.places import Markers
from nmspeller.apps.documents.tracked import with_tracked_changes
from nmspeller.apps.documents.word_text import AUTHOR, WordText, texts
from nmspeller.apps.documents.xml_events import Source, root
from nmspeller.errors import InputError
from nmspeller.messages import N_, _
from nmspeller.runtime.correction import Edit

_BODY = names("officeDocument")
_PARTS_WITH_TEXT = names("header footer footnotes endnotes comments")
_KIND = N_("a Word document")


@dataclass(frozen=True)
class DocxDocument(OfficeDocument):
    """A Word document; `body` is the member of its main part."""

    spans: Sequence[WordText]
    body: str

    @classmethod
    def parse(cls, raw: bytes, name: str) -> "DocxDocument":
        with package.reading(raw, name, _KIND) as archive:
            bodies = [one.member for one in references(archive, "", _BODY)]
            others = [one.member for body in bodies for one in references(archive, body, _PARTS_WITH_TEXT)]
            sources = {member: Source.of(archive.read(member)).xml for member in (*bodies, *others)}
            body = next((member for member in bodies if root(sources[member]).local_name == "document"), None)
            if body is None:
                raise InputError(_("{name} is not a Word document.").format(name=name))
            found = (one for member, xml in sources.items() for one in texts(member, xml, member == body))
            text, passages, spans, starts = assembled(found)
        return cls(name, text, passages, raw, spans, starts, body)

    @cached_property
    def markers(self) -> Markers:
        return word_places.markers({member: one.xml for member, one in self.sources().items()}, self.body)

    def with_edits(self, edits: Iterable[Edit], *, track: bool = False, force: bool = False) -> bytes:
        """As for any Office document; or else with tracked changes."""
        if track:
            return self.with_tracked_changes(edits, force=force)
        return super().with_edits(edits, force=force)

    def with_tracked_changes(
        self, edits: Iterable[Edit], author: str = AUTHOR, *, force: bool = False
    ) -> bytes:
        """The file's new content with a tracked change for each finding, and a comment that explains it.

        Without any that can be tracked, the content as it is.
        """
        if not force:
            self.require_unsigned()
        sources, changes = self.sources(), list(self.changes(edits))
        # Parts that only comments need were not read before, and may be damaged.
        with package.reading(self.raw, self.name, _KIND):
            members = with_tracked_changes(
                self.raw, self.body, self.text, sources, self.spans, changes, author
            )
        return package.with_members(self.raw, members) if members else self.raw
