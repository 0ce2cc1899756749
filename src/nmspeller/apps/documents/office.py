"""Office documents: spans of text in the XML of a package, and edits that change these spans alone."""

import io
import zipfile
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, TypeVar

from nmspeller.apps.documents import package, prose
from nmspeller.apps.documents.escapes import NONE as NO_ESCAPES
from nmspeller.apps.documents.places import Markers, Place, find
from nmspeller.apps.documents.prose import Passage
from nmspeller.apps.documents.xml_content import TextReplacement, with_text
from nmspeller.apps.documents.xml_events import Splice, XmlSource, can_hold
from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.findings import Edit

OBJECT = "\ufffc"
"""Stands in the text for a formula or a picture in the line, so that its neighbours do not meet."""

# Line ends inside a text element are shown as blanks; as line ends they would cut a sentence.
_BLANKS = str.maketrans("\n\r\t", "   ")


@dataclass(frozen=True)
class TextSpan:
    """Some text of a member; bytes `start` to `stop` of the member's XML in UTF-8 hold it."""

    member: str
    start: int
    stop: int
    text: str

    def with_text(self, replacements: Sequence[TextReplacement], xml: bytes) -> bytes:
        """What replaces the bytes, so that they hold other characters in some places."""
        return with_text(xml[self.start : self.stop], replacements)


AnyTextSpan = TypeVar("AnyTextSpan", bound=TextSpan)


class SpanChange(NamedTuple):
    """Replace characters `begin` to `end` of a span by `text`, as an edit asks."""

    span: int
    begin: int
    end: int
    text: str
    edit: Edit


@dataclass(frozen=True)
class OfficeDocument:
    """`text` has one line a paragraph; `starts` has the offset of each span."""

    name: str
    text: str
    passages: Sequence[Passage]
    raw: bytes
    spans: Sequence[TextSpan]
    starts: Sequence[int]

    escapes = NO_ESCAPES

    @cached_property
    def is_signed(self) -> bool:
        """Whether the file has a digital signature, which any edit makes invalid."""
        return package.is_signed(self.raw)

    def require_unsigned(self) -> None:
        """Raise an `InputError` if the file has a digital signature."""
        if self.is_signed:
            raise InputError(
                _(
                    "{name} has a digital signature, which a correction would make invalid; "
                    "correct it nevertheless with --fix --force."
                ).format(name=self.name)
            )

    def with_edits(self, edits: Iterable[Edit], *, track: bool = False, force: bool = False) -> bytes:
        """The file's new content; all but the edited texts is the same to the byte.

        An edit may span several spans: each keeps its share of the characters, and its font. A signed file
        is edited only by `force`.
        """
        if track:
            raise no_tracking(self.name)
        if not force:
            self.require_unsigned()
        splices: dict[str, list[Splice]] = defaultdict(list)
        sources = self.sources()
        for index, changes in groupby(self.changes(edits), key=lambda change: change.span):
            span = self.spans[index]
            replacements = [TextReplacement(change.begin, change.end, change.text) for change in changes]
            xml = span.with_text(replacements, sources[span.member].xml)
            splices[span.member].append(Splice(span.start, span.stop, xml))
        return package.with_members(
            self.raw, {member: sources[member].with_splices(found) for member, found in splices.items()}
        )

    def sources(self) -> Mapping[str, XmlSource]:
        """The XML of each member that has a span."""
        with zipfile.ZipFile(io.BytesIO(self.raw)) as archive:
            return {
                member: XmlSource.of(archive.read(member))
                for member in dict.fromkeys(span.member for span in self.spans)
            }

    def span_at(self, offset: int) -> TextSpan | None:
        """The span that holds a character, or the last one before it."""
        return self.spans[max(bisect_right(self.starts, offset) - 1, 0)] if self.spans else None

    def place_of(self, offset: int) -> Place:
        """Where a character is, in words for a person who looks for it in the document."""
        span = self.span_at(offset)
        found = find(self.markers, span.member, span.start) if span else None
        return found or Place((("paragraph", self.text.count("\n", 0, offset) + 1),))

    @cached_property
    def markers(self) -> Markers:
        """Where the texts of each member are; none where only paragraphs are counted."""
        return {}

    def changes(self, edits: Iterable[Edit]) -> Iterator[SpanChange]:
        """The edits as changes of spans, in order; the last span of an edit takes what remains of it."""
        for edit in edits:
            if not can_hold(edit.target):  # a control character in a user's replacement
                raise InputError(
                    _("{name}: {text!r} cannot be written in an Office document.").format(
                        name=self.name, text=edit.target
                    )
                )
            target, touched = edit.target, self._touched(edit)
            for index in touched:
                begin = max(edit.offset - self.starts[index], 0)
                end = min(edit.offset + edit.length - self.starts[index], len(self.spans[index].text))
                share = target if index == touched[-1] else target[: end - begin]
                target = target[len(share) :]
                yield SpanChange(index, begin, end, share, edit)

    def _touched(self, edit: Edit) -> range:
        """The spans that an edit is in; one that only inserts is in the span before it, if that is near."""
        first = bisect_right(self.starts, edit.offset) - 1
        if edit.length:
            return range(first, bisect_right(self.starts, edit.offset + edit.length - 1))
        before = first - 1 if first > 0 and self.starts[first] == edit.offset else first
        is_near = before >= 0 and edit.offset <= self.starts[before] + len(self.spans[before].text)
        return range(before, before + 1) if is_near else range(before + 1, before + 2)


def no_tracking(name: str) -> InputError:
    """The error of a document that cannot have tracked changes."""
    return InputError(
        _("{name} cannot have tracked changes; only Word documents (.docx) can.").format(name=name)
    )


def assembled(
    found: Iterable[AnyTextSpan | str],
) -> tuple[str, list[Passage], list[AnyTextSpan], list[int]]:
    """The text of some spans and of what stands between them, its passages, the spans and their offsets."""
    text, spans, starts = joined(found)
    return text, prose.passages(text, "text"), spans, starts


def joined(found: Iterable[AnyTextSpan | str]) -> tuple[str, list[AnyTextSpan], list[int]]:
    """As `assembled`, but without passages."""
    texts: list[str] = []
    spans: list[AnyTextSpan] = []
    starts: list[int] = []
    length = 0
    for one in found:
        if isinstance(one, str):
            # Neither an empty paragraph nor a picture without text is a line.
            if one in ("\n", OBJECT) and (not texts or texts[-1] == "\n"):
                continue
            content = one
        else:
            content = one.text.translate(_BLANKS)
            spans.append(one)
            starts.append(length)
        texts.append(content)
        length += len(content)
    return "".join(texts), spans, starts
