"""A document to check: its text, its passages of prose, and how to write it back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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
from nmspeller.apps.documents.replacements import written
from nmspeller.apps.documents.xlsx import XlsxDocument
from nmspeller.errors import InputError
from nmspeller.files import path_of
from nmspeller.messages import _
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.correction import Correction, clear_of
from nmspeller.runtime.findings import Edit, Hint
from nmspeller.runtime.policy import Level
from nmspeller.runtime.reading import Part
from nmspeller.runtime.speller import Speller

# The first batch is small, so that the first findings show at once; the largest takes a few seconds on a CPU.
_FIRST_BATCH, _LARGEST_BATCH = 500, 4_000


@dataclass(frozen=True)
class TextDocument:
    """A document in any text format; `name` identifies it in reports."""

    name: str
    text: str
    passages: Sequence[Passage]
    encoding: Encoding
    format: str = "text"
    escapes: Escapes = NO_ESCAPES

    is_signed = False

    def require_unsigned(self) -> None:
        """A text has no digital signature."""

    def with_edits(self, edits: Iterable[Edit], *, track: bool = False, force: bool = False) -> bytes:
        """The file's new content; only the edited characters differ."""
        if track:
            raise no_tracking(self.name)
        edits = [replace(edit, target=self._written(edit)) for edit in edits]
        return self.encoding.encode(self.escapes.applied(self.text, edits), self.name)

    def _written(self, edit: Edit) -> str:
        """The target of an edit as the file writes it."""
        target = written(self.text, edit, self.format)
        if target is None:  # a quotation mark in a user's replacement
            raise InputError(
                _("{name}: {text!r} would break the syntax of the file; write it by hand.").format(
                    name=self.name, text=edit.target
                )
            )
        return target


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
    return TextDocument(name, text, prose.passages(text, format), found, format, escapes)


def from_text(text: str, name: str, format: str = "auto") -> Document:
    """A document from a text that is not in a file."""
    for at, character in enumerate(text):
        if "\ud800" <= character <= "\udfff":
            raise InputError(
                _("{name}: character {at} is half of a surrogate pair or an undecodable byte.").format(
                    name=name, at=at
                )
            )
    format = "text" if format == "auto" else format
    return TextDocument(name, text, prose.passages(text, format), Encoding("utf-8"), format)


def read(path: Path, format: str = "auto", encoding: str = "auto") -> tuple[Document, bytes]:
    """The document in a file, and the bytes that were read."""
    raw = files.read(path)
    return from_bytes(str(path), raw, format=format, encoding=encoding), raw


def require_tracking(document: Document) -> None:
    """Raise an `InputError` unless `with_edits(…, track=True)` can write this document."""
    if not isinstance(document, DocxDocument):
        raise no_tracking(document.name)


def check(
    checker: Checker,
    document: Document,
    *,
    level: Level | str | None = None,
    advance: Callable[[int, Sequence[Edit]], None] | None = None,
) -> Correction:
    """Check all prose of a document; the offsets of edits and hints are those of `document.text`.

    `advance` is called for each finished batch, with its number of characters and its edits.
    """
    edits: list[Edit] = []
    hints: list[Hint] = []
    check = checker.begin([passage.text for passage in document.passages])
    for batch in _growing_batches(check.parts):
        before, characters = len(edits), 0
        read = checker.read([check.parts[number] for number in batch], level)
        for number, changes in zip(batch, read, strict=True):
            checked = check.finish(number, changes)
            passage = document.passages[checked.number]
            edits += passage.in_document(checked.edits)
            hints += passage.hints_in_document(document.text, checked.hints)
            characters += checked.stop - checked.start
        if advance is not None:
            advance(characters, edits[before:])
    return Correction.of(document.text, edits, clear_of(edits, hints))


def check_file(
    path: str | Path,
    speller: Speller | None = None,
    *,
    level: Level | str | None = None,
    format: str = "auto",
    encoding: str = "auto",
) -> Correction:
    """Check a file in any format that `nmspeller check` reads; the file is not changed.

    The offsets are those of `Correction.source`, the text of the file; of a Word file it is the text of its
    paragraphs.

        >>> import nmspeller
        >>> for edit in nmspeller.check_file("letter.docx").edits:
        ...     print(edit.source, "→", edit.target)

    Args:
        path: the file.
        speller: one with the shipped model by default; give one if you check several files.
        level: the speller's own level by default.
        format: by default, what name and content say; otherwise one of those of `nmspeller check --format`.
        encoding: by default, what the content says.

    Raises:
        InputError: the file cannot be read; the message says why.
    """
    if not isinstance(speller, Speller | None):
        raise InputError(_("give a Speller, not {given!r}.").format(given=speller))
    if format not in (known := ("auto", *prose.FORMATS, *prose.OFFICE_FORMATS)):
        raise InputError(
            _("there is no format {asked!r}; choose one of {known}.").format(
                asked=format, known=", ".join(known)
            )
        )
    document, _raw = read(path_of(path), format, encoding)
    return check((speller or Speller()).checker, document, level=level)


def _growing_batches(parts: Sequence[Part]) -> Iterator[list[int]]:
    """The numbers of the parts in batches, each with about twice as many characters as the one before."""
    batch: list[int] = []
    length, limit = 0, _FIRST_BATCH
    for number, part in enumerate(parts):
        if batch and length + len(part.text) > limit:
            yield batch
            batch, length, limit = [], 0, min(2 * limit, _LARGEST_BATCH)
        batch.append(number)
        length += len(part.text)
    if batch:
        yield batch
