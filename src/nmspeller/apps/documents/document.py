"""A document to check: its text, its passages of prose, and how to write it back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from nmspeller.apps.documents import encoding, files, prose, unsupported
from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.apps.documents.encoding import Encoding
from nmspeller.apps.documents.prose import Passage
from nmspeller.errors import InputError
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.correction import Correction, Edit, apply_edits
from nmspeller.runtime.parts import Part, split_into_parts
from nmspeller.text.script import detect

# The first chunk is small, so that the first findings show at once; the largest takes a few seconds on a CPU.
_FIRST_CHUNK, _LARGEST_CHUNK = 500, 4_000


@dataclass(frozen=True)
class TextDocument:
    """A document in any text format; `name` identifies it in reports."""

    name: str
    text: str
    passages: Sequence[Passage]
    encoding: Encoding

    def with_edits(self, edits: Iterable[Edit]) -> bytes:
        """The file's new content; only the edited characters differ."""
        return self.encoding.encode(apply_edits(self.text, edits), self.name)


Document = TextDocument | DocxDocument


def parse(raw: bytes, name: str, format: str = "auto", asked_encoding: str = "auto") -> Document:
    """A document from its bytes; `auto` is decided by the name and the content."""
    unsupported.reject_by_content(raw, name)
    if format == "auto":
        format = prose.format_of(name)
    if format == "docx":
        return DocxDocument.parse(raw, name)
    try:
        text, found = encoding.decode(raw, name, asked_encoding)
    except InputError:
        unsupported.reject_by_suffix(name)
        raise
    if format == "code":
        format = prose.format_of(name)
    return TextDocument(name, text, prose.passages(text, format), found)


def from_text(text: str, name: str, format: str = "auto") -> Document:
    """A document from a text that is not in a file."""
    for at, character in enumerate(text):
        if "\ud800" <= character <= "\udfff":
            raise InputError(f"{name}: character {at} is half of a surrogate pair or an undecodable byte.")
    passages = prose.passages(text, "text" if format == "auto" else format)
    return TextDocument(name, text, passages, Encoding("utf-8"))


def read(path: Path, format: str = "auto", asked_encoding: str = "auto") -> tuple[Document, bytes]:
    """The document in a file, and the bytes that were read."""
    raw = files.read(path)
    return parse(raw, str(path), format, asked_encoding), raw


def check(
    speller: Checker,
    document: Document,
    *,
    level: str | None = None,
    advance: Callable[[int, Sequence[Edit]], None] | None = None,
) -> Correction:
    """Check all prose of a document; the edits' offsets are those of `document.text`.

    `advance` is called for each finished chunk, with its number of characters and its edits.
    """
    edits: list[Edit] = []
    document_script = detect("".join(passage.text for passage in document.passages))
    done = 0  # in the passage, the end of its last edit
    for chunk in _growing_chunks(_pieces(document.passages, speller.window)):
        corrections = speller.check_many(
            [piece.part.text for piece in chunk], level=level, document_script=document_script
        )
        before = len(edits)
        for (passage, part), correction in zip(chunk, corrections, strict=True):
            done = done if part.keep_start else 0
            own = part.own_edits(correction.edits, done)
            if own:
                done = own[-1].offset + own[-1].length
            edits += passage.in_document(own)
        if advance is not None:
            advance(sum(map(_length, chunk)), edits[before:])
    return Correction(document.text, apply_edits(document.text, edits), tuple(edits))


class _Piece(NamedTuple):
    """A passage, and the part of it to check."""

    passage: Passage
    part: Part


def _pieces(passages: Iterable[Passage], window: int) -> Iterator[_Piece]:
    for passage in passages:
        for part in split_into_parts(passage.text, window):
            yield _Piece(passage, part)


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
