"""Chinese that a file writes in ASCII, such as `\\u4f60` in JSON or `&#x4f60;` in HTML.

Many programs write all their JSON, YAML or properties so. The text is what a reader sees; an edit is written
in the way of the character that it replaces, and nothing else in the file changes.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from nmspeller.runtime.findings import Edit
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern

_BACKSLASH_TEXT = (
    r"\\(?:u(?P<unit>[0-9a-fA-F]{4})(?:\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2}))?|U(?P<long>[0-9a-fA-F]{8})|.)"
)
_REFERENCE_TEXT = r"&#(?:[xX](?P<hex>[0-9a-fA-F]{1,6})|(?P<decimal>[0-9]{1,7}));"
_BACKSLASH = lazy_pattern(_BACKSLASH_TEXT, re.DOTALL)
_REFERENCE = lazy_pattern(_REFERENCE_TEXT)
_PATTERNS = {
    **dict.fromkeys(("json", "ipynb", "yaml", "properties", "strings", "code+strings"), _BACKSLASH),
    **dict.fromkeys(("html", "vue"), _REFERENCE),
    "xml": lazy_pattern(f"{_REFERENCE_TEXT}|{_BACKSLASH_TEXT}", re.DOTALL),
}
_CHINESE = lazy_pattern(f"[{HANZI}\u3001-\u301f\uff01-\uff65\u2014\u2018-\u201d\u2026]")


@dataclass(frozen=True)
class Escapes:
    """The Chinese characters of a text that its file writes as escapes.

    `places` are their offsets in the text, `written` the escapes.
    """

    places: Sequence[int] = ()
    written: Sequence[str] = ()

    def applied(self, text: str, edits: Iterable[Edit]) -> str:
        """The file's text with the edits of `text`, which are in order."""
        output: list[str] = []
        end = 0
        for edit in edits:
            stop = edit.offset + edit.length
            output += (self._in_file(text, end, edit.offset), self._like(edit.offset, stop, edit.target))
            end = stop
        return "".join((*output, self._in_file(text, end, len(text))))

    def length(self, start: int, stop: int) -> int:
        """How many characters of the file text[start:stop] takes."""
        first, last = bisect_left(self.places, start), bisect_left(self.places, stop)
        return stop - start + self._added[last] - self._added[first]

    @cached_property
    def _added(self) -> list[int]:
        """How many characters the first escapes, none to all, take more than those that they stand for."""
        return [*accumulate((len(one) - 1 for one in self.written), initial=0)]

    def _in_file(self, text: str, start: int, stop: int) -> str:
        output: list[str] = []
        for number in range(bisect_right(self.places, start - 1), bisect_right(self.places, stop - 1)):
            output += (text[start : self.places[number]], self.written[number])
            start = self.places[number] + 1
        return "".join((*output, text[start:stop]))

    def _like(self, start: int, stop: int, target: str) -> str:
        """The target as the characters that it replaces are written, or the one before an insertion."""
        first, after = (start, stop) if start < stop else (start - 1, start)
        last = bisect_right(self.places, after - 1) - 1
        if last < 0 or self.places[last] < first:
            return target
        model = self.written[last]
        return "".join(one if one.isascii() else _escape(one, model) for one in target)


NONE = Escapes()


def decoded(text: str, format: str) -> tuple[str, Escapes]:
    """The text as a reader sees it, and how its file writes it."""
    kind = "code+strings" if format.startswith("code+strings") else format
    pattern = _PATTERNS.get(kind)
    if pattern is None or ("\\u" not in text and "\\U" not in text and "&#" not in text):
        return text, NONE
    output: list[str] = []
    places: list[int] = []
    written: list[str] = []
    end = length = 0
    for found in pattern.finditer(text):
        character = _character(found.groupdict())
        if character is None or not _CHINESE.match(character):
            continue
        output += (text[end : found.start()], character)
        length += found.start() - end
        places.append(length)
        written.append(found.group())
        length += 1
        end = found.end()
    return "".join((*output, text[end:])), Escapes(places, written)


def _character(groups: dict[str, str | None]) -> str | None:
    """The character that an escape stands for, unless it stands for several or for none."""
    if unit := groups.get("unit"):
        code, low = int(unit, 16), groups.get("low")
        if low is None:
            return chr(code)
        if not 0xD800 <= code < 0xDC00:
            return None
        return chr(0x10000 + ((code - 0xD800) << 10) + int(low, 16) - 0xDC00)
    if digits := groups.get("long") or groups.get("hex"):
        code = int(digits, 16)
    else:
        code = int(groups.get("decimal") or 0)
    return chr(code) if 0 < code <= 0x10FFFF else None


def _escape(character: str, model: str) -> str:
    """The character in the way of another escape, in its case of letters, too."""
    code = ord(character)
    if model.startswith("&#"):
        is_hex = model[2] in "xX"
        return f"{model[:3]}{_hex(code, 1, model)};" if is_hex else f"&#{code};"
    if model.startswith("\\U"):
        return "\\U" + _hex(code, 8, model)
    if code < 0x10000:
        return "\\u" + _hex(code, 4, model)
    high, low = 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF)
    return f"\\u{_hex(high, 4, model)}\\u{_hex(low, 4, model)}"


def _hex(code: int, digits: int, model: str) -> str:
    return f"{code:0{digits}X}" if re.search("[A-F]", model[2:]) else f"{code:0{digits}x}"
