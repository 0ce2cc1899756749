"""Word documents: the text of their runs, in the body, tables, text boxes, headers, footers and notes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO
from zipfile import ZipFile

from nmspeller.apps.documents import package, word_comments, word_places
from nmspeller.apps.documents.markup import names
from nmspeller.apps.documents.office import OfficeDocument, SpanChange, assembled
from nmspeller.apps.documents.package import references
from nmspeller.apps.documents.places import Markers
from nmspeller.apps.documents.tracked import with_tracked_changes
from nmspeller.apps.documents.word_copies import Copies, placed_beyond, without_repetitions
from nmspeller.apps.documents.word_text import AUTHOR, WordText, texts
from nmspeller.apps.documents.xml_events import XmlSource, root
from nmspeller.errors import InputError
from nmspeller.messages import N_, _
from nmspeller.runtime.findings import Edit

_BODY = names("officeDocument")
_PARTS_WITH_TEXT = names("header footer footnotes endnotes comments")
_KIND = N_("a Word document")


@dataclass(frozen=True)
class DocxDocument(OfficeDocument):
    """A Word document; `body` is the member of its main part.

    The last spans, behind the end of the text, are those of `copies`.
    """

    spans: Sequence[WordText]
    body: str
    copies: Copies

    @classmethod
    def parse(cls, raw: bytes, name: str) -> "DocxDocument":
        with package.reading(raw, name, _KIND) as archive:
            bodies = [one.member for one in references(archive, "", _BODY)]
            others = [one.member for body in bodies for one in references(archive, body, _PARTS_WITH_TEXT)]
            sources = {member: XmlSource.of(archive.read(member)).xml for member in (*bodies, *others)}
            body = next((member for member in bodies if root(sources[member]).local_name == "document"), None)
            if body is None:
                raise InputError(_("{name} is not a Word document.").format(name=name))
            read = [
                without_repetitions(texts(member, xml, member == body), xml)
                for member, xml in sources.items()
            ]
            text, passages, spans, starts = assembled(one for found, _repeated in read for one in found)
            repetitions = (one for _found, repeated in read for one in repeated)
            copies = placed_beyond(text, spans, starts, repetitions)
        return cls(name, text, passages, raw, spans, starts, body, copies)

    @cached_property
    def markers(self) -> Markers:
        return word_places.markers({member: one.xml for member, one in self.sources().items()}, self.body)

    @cached_property
    def comments(self) -> str | None:
        """The member that the comments are in, if there are any."""
        with ZipFile(BytesIO(self.raw)) as archive:
            return word_comments.part(archive, self.body)

    def changes(self, edits: Iterable[Edit]) -> Iterator[SpanChange]:
        """As for any Office document, and after that the same changes in copies."""
        changes = list(super().changes(edits))
        while changes:
            yield from changes
            changes = list(super().changes(self._in_copies(changes)))

    def _in_copies(self, changes: Iterable[SpanChange]) -> list[Edit]:
        """The changes as edits of the copies of their spans, which may have copies themselves."""
        copied = [
            replace(
                change.edit,
                offset=self.starts[change.span] + change.begin + shift,
                length=change.end - change.begin,
                source=self.spans[change.span].text[change.begin : change.end],
                target=change.text,
            )
            for change in changes
            for shift in self.copies.get(change.span, ())
        ]
        return sorted(copied, key=lambda edit: edit.offset)

    def with_edits(self, edits: Iterable[Edit], *, track: bool = False, force: bool = False) -> bytes:
        """As for any Office document; or else with tracked changes."""
        if track:
            return self.with_tracked_changes(edits, force=force)
        return super().with_edits(edits, force=force)

    def with_tracked_changes(
        self, edits: Iterable[Edit], author: str = AUTHOR, *, force: bool = False
    ) -> bytes:
        """The file's new content with a tracked change for each finding, and a comment that explains it.

        Those that cannot be tracked are left out; without any other, it is the content as it is.
        """
        if not force:
            self.require_unsigned()
        edits = list(edits)
        left = self.untracked(edits)
        sources, changes = self.sources(), list(self.changes(edit for edit in edits if edit not in left))
        # Parts that only comments need were not read before, and may be damaged.
        with package.reading(self.raw, self.name, _KIND):
            members = with_tracked_changes(
                self.raw, self.body, self.text, sources, self.spans, changes, author
            )
        return package.with_members(self.raw, members) if members else self.raw

    def untracked(self, edits: Sequence[Edit]) -> list[Edit]:
        """The edits in comments: no program tracks changes there, and some show deleted and inserted text."""
        return [edit for edit in edits if self.spans[self._touched(edit)[0]].member == self.comments]
