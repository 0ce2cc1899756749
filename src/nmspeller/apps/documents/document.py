"""A document to check: its text, its passages of prose, and how to write it back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nmspeller.apps.documents import encoding as encodings
from nmspeller.apps.documents import files, prose, unsupported
from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.apps.documents.encoding import Encoding
from nmspeller.apps.documents.odf import OdfDocument
from nmspeller.apps.documents.office import OfficeDocument, no_tracking
from nmspeller.apps.documents.pptx import PptxDocument
from nmspeller.apps.documents.prose import Passage
from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.correction import Correction, Edit, apply_edits
from nmspeller.text.script import detect

# The first chunk is small, so that progress shows at once; the largest gives full batches.
_FIRST_CHUNK, _LARGEST_CHUNK = 1_000, 20_000


@dataclass(frozen=True)
class TextDocument:
    """A document in any text format; `name` identifies it in reports."""

    name: str
    text: str
    passages: Sequence[Passage]
    encoding: Encoding

    def with_edits(self, edits: Iterable[Edit], *, track: bool = False) -> bytes:
        """The file's new content; only the edited characters differ."""
        if track:
            raise no_tracking(self.name)
        return self.encoding.encode(apply_edits(self.text, edits), self.name)


Document = TextDocument | OfficeDocument

_OFFICE_FORMATS: dict[str, type[DocxDocument] | type[OdfDocument] | type[PptxDocument]] = {
    "docx": DocxDocument,
    "odt": OdfDocument,
    "odp": OdfDocument,
    "pptx": PptxDocument,
}


def from_bytes(name: str, raw: bytes, *, format: str = "auto", encoding: str = "auto") -> Document:
    """A document from a file's name and content; `auto` is decided by both."""
    unsupported.reject_by_content(raw, name)
    if format == "auto":
        format = prose.format_of(name)
    if format in _OFFICE_FORMATS:
        return _OFFICE_FORMATS[format].parse(raw, name)
    try:
        text, found = encodings.decode(raw, name, encoding)
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
    """Check all prose of a document; the edits' offsets are those of `document.text`.

    `advance` is called for each finished chunk, with its number of characters and its edits.
    """
    edits: list[Edit] = []
    document_script = detect("".join(passage.text for passage in document.passages))
    for chunk in _growing_chunks(document.passages):
        corrections = speller.check_many(
            [passage.text for passage in chunk], level=level, document_script=document_script
        )
        before = len(edits)
        for passage, correction in zip(chunk, corrections, strict=True):
            edits += passage.in_document(correction.edits)
        if advance is not None:
            advance(sum(len(passage.text) for passage in chunk), edits[before:])
    return Correction(document.text, apply_edits(document.text, edits), tuple(edits))


def _growing_chunks(passages: Sequence[Passage]) -> Iterator[list[Passage]]:
    """The passages in chunks, each about twice as long as the one before; a passage is never cut."""
    chunk: list[Passage] = []
    length, limit = 0, _FIRST_CHUNK
    for passage in passages:
        if chunk and length + len(passage.text) > limit:
            yield chunk
            chunk, length, limit = [], 0, min(2 * limit, _LARGEST_CHUNK)
        chunk.append(passage)
        length += len(passage.text)
    if chunk:
        yield chunk
