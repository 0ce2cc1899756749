"""A document to check: its text, its passages of prose, and how to write it back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmspeller.apps.documents import encoding as encodings
from nmspeller.apps.documents import files, prose, unsupported
from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.apps.documents.encoding import Encoding
from nmspeller.apps.documents.epub import EpubDocument
from nmspeller.apps.documents.escapes import NONE as NO_ESCAPES
from nmspeller.apps.documents.escapes import Escapes, decoded
from nmspeller.apps.documents.odf import OdfDocument
from nmspeller.apps.documents.office import OfficeDocument, no_tracking
from nmspeller.apps.documents.pptx import PptxDocument
from nmspeller.apps.documents.prose import Passage
from nmspeller.apps.documents.xlsx import XlsxDocument
from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.correction import Correction, Edit, Hint, apply_edits
from nmspeller.runtime.parts import Part, split_into_parts
from nmspeller.runtime.rule_edits import matches_between, with_matches
from nmspeller.text.script import detect

if TYPE_CHECKING:
    from nmspeller.runtime.rules import RuleMatch

# The first chunk is small, so that the first findings show at once; the largest takes a few seconds on a CPU.
_FIRST_CHUNK, _LARGEST_CHUNK = 500, 4_000


@dataclass(frozen=True)
class TextDocument:
    """A document in any text format; `name` identifies it in reports."""

    name: str
    text: str
    passages: Sequence[Passage]
    encoding: Encoding
    escapes: Escapes = NO_ESCAPES

    def with_edits(self, edits: Iterable[Edit], *, track: bool = False) -> bytes:
        """The file's new content; only the edited characters differ."""
        if track:
            raise no_tracking(self.name)
        edits = list(edits)
        for edit in edits:
            if not self.escapes.can_hold(edit):  # a quotation mark in a user's replacement
                raise InputError(
                    _("{name}: {text!r} would break the syntax of the file; write it by hand.").format(
                        name=self.name, text=edit.target
                    )
                )
        return self.encoding.encode(self.escapes.applied(self.text, edits), self.name)


Document = TextDocument | OfficeDocument

_OFFICE_FORMATS: dict[str, Callable[[bytes, str], OfficeDocument]] = {
    "docx": DocxDocument.parse,
    "odt": OdfDocument.parse,
    "odp": OdfDocument.parse,
    "pptx": PptxDocument.parse,
    "xlsx": XlsxDocument.parse,
    "epub": EpubDocument.parse,
}


def from_bytes(name: str, raw: bytes, *, format: str = "auto", encoding: str = "auto") -> Document:
    """A document from a file's name and content; `auto` is decided by both."""
    unsupported.reject_by_content(raw, name)
    if format == "auto":
        format = prose.format_of(name)
    if format in _OFFICE_FORMATS:
        return _OFFICE_FORMATS[format](raw, name)
    try:
        text, found = encodings.decode(raw, name, encoding)
    except InputError:
        unsupported.reject_no_text(raw, name)
        raise
    if format in ("code", "code+strings"):
        own = prose.format_of(name)
        format = own if format == "code" else prose.with_strings(own)
    text, escapes = decoded(text, format)
    return TextDocument(name, text, prose.passages(text, format), found, escapes)


def from_text(text: str, name: str, format: str = "auto") -> Document:
    """A document from a text that is not in a file."""
    for at, character in enumerate(text):
        if "\ud800" <= character <= "\udfff":
            raise InputError(
                _("{name}: character {at} is half of a surrogate pair or an undecodable byte.").format(
                    name=name, at=at
                )
            )
    passages = prose.passages(text, "text" if format == "auto" else format)
    return TextDocument(name, text, passages, Encoding("utf-8"))


def read(path: Path, format: str = "auto", encoding: str = "auto") -> tuple[Document, bytes]:
    """The document in a file, and the bytes that were read."""
    raw = files.read(path)
    return from_bytes(str(path), raw, format=format, encoding=encoding), raw


def require_tracking(document: Document) -> None:
    """Raise an `InputError` unless `with_edits(…, track=True)` can write this document."""
    if not isinstance(document, DocxDocument):
        raise no_tracking(document.name)


def check(
    speller: Checker,
    document: Document,
    *,
    level: str | None = None,
    advance: Callable[[int, Sequence[Edit]], None] | None = None,
) -> Correction:
    """Check all prose of a document; the offsets of edits and hints are those of `document.text`.

    `advance` is called for each finished chunk, with its number of characters and its edits.
    """
    edits: list[Edit] = []
    hints: list[Hint] = []
    document_script = detect("".join(passage.text for passage in document.passages))
    found = speller.rule_matches([passage.text for passage in document.passages])
    done = 0  # in the passage, the end of its last edit
    for chunk in _growing_chunks(_pieces(document.passages, found, speller.window)):
        corrections = speller.check_many(
            [piece.part.text for piece in chunk], level=level, document_script=document_script, rules=False
        )
        before = len(edits)
        for (passage, part, matches), correction in zip(chunk, corrections, strict=True):
            done = done if part.keep_start else 0
            own, doubts = with_matches(part.own_edits(correction.edits, done), matches)
            if own:
                done = own[-1].offset + own[-1].length
            edits += passage.in_document(own)
            hints += passage.hints_in_document(document.text, doubts)
        if advance is not None:
            advance(sum(map(_length, chunk)), edits[before:])
    return Correction(document.text, apply_edits(document.text, edits), tuple(edits), tuple(hints))


class _Piece(NamedTuple):
    """A passage, the part of it to check, and what the rules find there."""

    passage: Passage
    part: Part
    matches: Sequence["RuleMatch"]


def _pieces(
    passages: Iterable[Passage], found: Iterable[Sequence["RuleMatch"]], window: int
) -> Iterator[_Piece]:
    for passage, matches in zip(passages, found, strict=True):
        for part in split_into_parts(passage.text, window):
            # The last part has what is inserted at the end, too.
            stop = part.keep_stop + (part.keep_stop == len(passage.text))
            yield _Piece(passage, part, matches_between(matches, part.keep_start, stop))


def _length(piece: _Piece) -> int:
    return piece.part.keep_stop - piece.part.keep_start


def _growing_chunks(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """The pieces in chunks, each about twice as long as the one before; a piece is never cut."""
    chunk: list[_Piece] = []
    length, limit = 0, _FIRST_CHUNK
    for piece in pieces:
        if chunk and length + _length(piece) > limit:
            yield chunk
            chunk, length, limit = [], 0, min(2 * limit, _LARGEST_CHUNK)
        chunk.append(piece)
        length += _length(piece)
    if chunk:
        yield chunk
