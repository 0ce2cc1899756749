"""Bytes to text and back: UTF-8 and GB18030 with and without a byte order mark, UTF-16 with one, and Big5."""

import codecs
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from nmspeller.errors import InputError
from nmspeller.messages import _

ENCODINGS = ("auto", "utf-8", "gb18030", "big5", "utf-16")
"""What a user may ask for."""

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    "\ufeff".encode("gb18030"): "gb18030",
}
_UTF32_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
# The second and third are Big5 as Windows and as Hong Kong extend it.
_LEGACY = ("gb18030", "big5", "cp950", "big5hkscs")
# The codecs without a byte order mark, the usual one first; the codec utf-16 would add a mark.
_UTF16 = ("utf-16-le", "utf-16-be")
_MOST = 0.9  # the share of everyday characters in bytes that are UTF-16, and not by chance
_SHORTEST_UTF16 = 8  # bytes; two or three characters of Big5 may look like UTF-16 by chance


@dataclass(frozen=True)
class Encoding:
    """How a file was encoded, to write it in the same way."""

    codec: str
    mark: bytes = b""

    def encode(self, text: str, name: str) -> bytes:
        """The bytes of a text; `name` identifies the file in errors."""
        try:
            return self.mark + text.encode(self.codec)
        except UnicodeEncodeError as error:
            if "\ud800" <= text[error.start] <= "\udfff":
                raise InputError(
                    _("{name}: {character!r} is half of a surrogate pair and cannot be written.").format(
                        name=name, character=text[error.start]
                    )
                ) from None
            raise InputError(
                _(
                    "{name}: {character!r} cannot be written in the file's encoding {encoding}; "
                    "convert the file to UTF-8 first."
                ).format(name=name, character=text[error.start], encoding=self.codec)
            ) from None


def decode(raw: bytes, name: str, asked: str = "auto") -> tuple[str, Encoding]:
    """The text of some bytes and their encoding; `name` identifies them in errors.

    asked: one of `ENCODINGS`.
    """
    if asked not in ENCODINGS:
        raise InputError(
            _("there is no encoding {asked!r}; choose one of {known}.").format(
                asked=asked, known=", ".join(ENCODINGS)
            )
        )
    if raw.startswith(_UTF32_MARKS):  # the first begins with the mark of UTF-16
        raise InputError(_("{name} is UTF-32, which is not supported; save it as UTF-8.").format(name=name))
    for mark, codec in _BYTE_ORDER_MARKS.items():
        if raw.startswith(mark) and asked in ("auto", "utf-8", "utf-16", codec):
            return _strictly(raw[len(mark) :], Encoding(codec, mark), name, offset=len(mark))
    if asked != "auto":
        return _as_asked(raw, name, asked)
    zero = raw.find(b"\0")
    if zero >= 0:
        _reject_utf16(raw, name)
        raise InputError(_("{name} is not a text file: byte {at} is zero.").format(name=name, at=zero))
    try:
        return raw.decode("utf-8"), Encoding("utf-8")
    except UnicodeDecodeError as error:
        if len(raw) >= _SHORTEST_UTF16:
            _reject_utf16(raw, name)
        legacy = None if _is_damaged_utf8(raw) else _likelier_legacy(raw)
        if legacy is None:
            raise InputError(
                _(
                    "{name}: byte {at} (0x{byte:02x}) is not UTF-8, and the file is neither GB18030 nor Big5."
                ).format(name=name, at=error.start, byte=raw[error.start])
            ) from None
        return raw.decode(legacy), Encoding(legacy)


def _as_asked(raw: bytes, name: str, asked: str) -> tuple[str, Encoding]:
    if asked == "utf-16":
        likely = _likely_utf16(raw)
        if likely is None and not raw.isascii() and _decodes(raw, "utf-8"):
            # As UTF-16 it would be other characters, in which nothing is found.
            raise InputError(_("{name} is UTF-8, not UTF-16.").format(name=name))
        return _strictly(raw, Encoding(likely or _UTF16[0]), name)
    candidates = _LEGACY[1:] if asked == "big5" else (asked,)
    for codec in candidates:
        if _decodes(raw, codec):
            return raw.decode(codec), Encoding(codec)
    return _strictly(raw, Encoding(candidates[0]), name)


def _strictly(raw: bytes, encoding: Encoding, name: str, offset: int = 0) -> tuple[str, Encoding]:
    try:
        return raw.decode(encoding.codec), encoding
    except UnicodeDecodeError as error:
        raise InputError(
            _("{name}: byte {at} (0x{byte:02x}) is not {encoding}.").format(
                name=name, at=offset + error.start, byte=raw[error.start], encoding=encoding.codec.upper()
            )
        ) from None


def _reject_utf16(raw: bytes, name: str) -> None:
    """UTF-16 without a mark is read only if asked for: it cannot be told apart with certainty."""
    if _likely_utf16(raw):
        raise InputError(
            _(
                "{name} is probably UTF-16 without a byte order mark; "
                "save it as UTF-8, or give its encoding (--encoding utf-16)."
            ).format(name=name)
        )


def _likely_utf16(raw: bytes) -> str | None:
    """The byte order in which the bytes are text of everyday characters, None if neither is."""
    for codec in _UTF16:
        if _decodes(raw, codec) and _is_everyday_text(raw.decode(codec)):
            return codec
    return None


def _is_everyday_text(text: str) -> bool:
    """Whether a text has no control characters and, outside ASCII, little that is rare."""
    sample = text[:100_000]
    if not sample or not all(character.isprintable() or character.isspace() for character in sample):
        return False
    foreign = [character for character in sample if not character.isascii()]
    everyday = max(
        sum(_is_everyday(character, codec) for character in foreign) for codec in ("gb18030", "big5")
    )
    return everyday >= _MOST * len(foreign)


def _is_damaged_utf8(raw: bytes) -> bool:
    """Whether most of it is valid UTF-8, which Chinese in another encoding never is by chance."""
    decoded = raw.decode("utf-8", errors="replace")
    wrong = decoded.count("\ufffd")
    # Count characters of three or more bytes, as Chinese ones are; those of two occur by chance.
    return sum(character >= "\u0800" for character in decoded) - wrong > 2 * wrong


def _likelier_legacy(raw: bytes) -> str | None:
    """The encoding in which most characters are everyday ones, None if none is plausible.

    Both standards put the everyday characters first, so the first of two bytes decides; unlike a statistical
    guess this is reliable from four characters on.
    """
    shares = {codec: _everyday_share(raw.decode(codec), codec) for codec in _LEGACY if _decodes(raw, codec)}
    best = max(shares, key=lambda codec: shares[codec], default=None)
    if best is None:
        return None
    # Traditional text may be in GB18030: everyday characters of either standard are plausible.
    is_plausible = max(_everyday_share(raw.decode(best), codec) for codec in ("gb18030", "big5")) >= 0.5
    return best if is_plausible else None


def _decodes(raw: bytes, codec: str) -> bool:
    """Whether the bytes are valid and round-trip: some codecs decode two codes to one character."""
    try:
        return raw.decode(codec).encode(codec) == raw
    except UnicodeError:
        return False


def _everyday_share(text: str, codec: str) -> float:
    foreign = list(islice((character for character in text if not character.isascii()), 100_000))
    return sum(_is_everyday(character, codec) for character in foreign) / len(foreign)


@lru_cache(maxsize=50_000)
def _is_everyday(character: str, codec: str) -> bool:
    """Whether it is punctuation, or a character of the first level of GB 2312 or Big5."""
    try:
        first = character.encode("gb2312" if codec == "gb18030" else codec)[0]
    except UnicodeEncodeError:
        return False
    if codec == "gb18030":
        return first in (0xA1, 0xA3) or 0xB0 <= first <= 0xD7
    return 0xA1 <= first <= 0xC6
