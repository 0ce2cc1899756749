"""Formats that writers use and that cannot be read: their names, and what to do instead."""

from pathlib import PurePath
from typing import NamedTuple

from nmspeller.errors import InputError
from nmspeller.messages import N_, _


class Unsupported(NamedTuple):
    """A format as a sentence calls it, and the advice that follows."""

    description: str
    advice: str


_SAVE_AS_DOCX = N_("save it as .docx and check that file")
_SAVE_AS_PPTX = N_("save it as .pptx and check that file")
_SAVE_AS_XLSX = N_("save it as .xlsx and check that file")
_COPY_THE_TEXT = N_("copy the text out into a .txt or .docx file and check that file")
_CONVERT_TO_EPUB = N_("convert it to .epub and check that file")

_WORD = Unsupported(N_("an old Word document (.doc)"), _SAVE_AS_DOCX)
_WPS = Unsupported(N_("a WPS document (.wps)"), _SAVE_AS_DOCX)
_POWERPOINT = Unsupported(N_("an old PowerPoint presentation (.ppt)"), _SAVE_AS_PPTX)
_EXCEL = Unsupported(N_("an old Excel workbook (.xls)"), _SAVE_AS_XLSX)
_PDF = Unsupported(N_("a PDF document (.pdf)"), _COPY_THE_TEXT)
_RTF = Unsupported(N_("a rich text document (.rtf)"), _SAVE_AS_DOCX)
_PROTECTED = Unsupported(
    N_("an Office document with a password"), N_("save it without the password and check that file")
)
_OTHER_OFFICE = Unsupported(N_("an old Office document"), _SAVE_AS_DOCX)

_BY_SUFFIX = {
    ".doc": _WORD,
    ".dot": _WORD,
    ".wps": _WPS,
    ".wpt": _WPS,
    ".ppt": _POWERPOINT,
    ".dps": Unsupported(N_("a WPS presentation (.dps)"), _SAVE_AS_PPTX),
    ".xls": _EXCEL,
    ".et": Unsupported(N_("a WPS workbook (.et)"), _SAVE_AS_XLSX),
    ".xlsb": Unsupported(N_("a binary Excel workbook (.xlsb)"), _SAVE_AS_XLSX),
    ".pdf": _PDF,
    ".rtf": _RTF,
    ".ods": Unsupported(N_("an OpenDocument spreadsheet (.ods)"), _SAVE_AS_XLSX),
    ".pages": Unsupported(N_("a Pages document (.pages)"), _SAVE_AS_DOCX),
    ".key": Unsupported(N_("a Keynote presentation (.key)"), _SAVE_AS_PPTX),
    ".numbers": Unsupported(N_("a Numbers workbook (.numbers)"), _SAVE_AS_XLSX),
    ".mobi": Unsupported(N_("a Kindle book (.mobi)"), _CONVERT_TO_EPUB),
    ".azw3": Unsupported(N_("a Kindle book (.azw3)"), _CONVERT_TO_EPUB),
}
_ARCHIVE = Unsupported(
    N_("an archive"), N_("unpack it, or name its format with --format if it is a document")
)
_OLE_HEADER = bytes.fromhex("d0cf11e0a1b11ae1")
# The streams of an OLE container; a password hides all others, so it comes first.
_BY_STREAM = {
    "EncryptedPackage": _PROTECTED,
    "PowerPoint Document": _POWERPOINT,
    "WordDocument": _WORD,
    "Workbook": _EXCEL,
}


def reject_by_content(raw: bytes, name: str) -> None:
    """Raise an `InputError` for bytes that begin as a format that cannot be read."""
    if raw.startswith(_OLE_HEADER):
        raise _error(name, _in_ole_container(raw, name))
    if raw.startswith(b"%PDF-"):
        raise _error(name, _PDF)
    if raw.startswith(b"{\\rtf"):
        raise _error(name, _RTF)


def reject_no_text(raw: bytes, name: str) -> None:
    """Raise an `InputError` for bytes that are no text, if the name or their beginning says what they are.

    The name says nothing before that: a plain text may be called `notes.doc`.
    """
    if found := _BY_SUFFIX.get(_suffix(name)):
        raise _error(name, found)
    if raw.startswith(b"PK\x03\x04"):
        raise _error(name, _ARCHIVE)


def _in_ole_container(raw: bytes, name: str) -> Unsupported:
    """What a container holds, by suffix and streams: Word and WPS differ in the suffix alone."""
    streams = (kind for stream, kind in _BY_STREAM.items() if stream.encode("utf-16-le") in raw)
    inside = next(streams, None)
    by_suffix = _BY_SUFFIX.get(_suffix(name))
    return inside if inside is _PROTECTED else by_suffix or inside or _OTHER_OFFICE


def _suffix(name: str) -> str:
    return PurePath(name).suffix.lower()


def _error(name: str, found: Unsupported) -> InputError:
    return InputError(
        _("{name} is {description}, which cannot be read; {advice}.").format(
            name=name, description=_(found.description), advice=_(found.advice)
        )
    )
