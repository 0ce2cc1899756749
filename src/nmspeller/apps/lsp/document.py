"""A text that an editor has open, and where the editor's positions lie in it.

pygls has a document of its own, but it breaks lines where Python does (form feeds, U+2028 and others), which
the protocol does not, and every position after such a character would be off by a line.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from lsprotocol import types

_LINE_END = re.compile("\r\n|\n|\r")


@dataclass(frozen=True)
class Document:
    """One version of an open text; a change makes a new one, so that a thread can read it undisturbed."""

    uri: str
    language: str
    version: int
    text: str
    encoding: str = types.PositionEncodingKind.Utf16.value

    def changed(self, changes: Iterable[types.TextDocumentContentChangeEvent], version: int) -> "Document":
        """The document after the editor's changes, each of which speaks of the text the last one left."""
        document = replace(self, version=version)
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, stop = document.offset(change.range.start), document.offset(change.range.end)
                text = document.text[:start] + change.text + document.text[max(start, stop) :]
            else:
                text = change.text
            document = replace(document, text=text)
        return document

    def offset(self, position: types.Position) -> int:
        """The code point at a position; one beyond a line means its end, one inside a character its start."""
        if position.line >= len(self._line_starts):
            return len(self.text)
        start, stop = self._line_starts[position.line], self._line_stops[position.line]
        left = position.character
        # Halving counts each part of the line at most once, and a whole part faster than its characters.
        while start < stop:
            middle = (start + stop + 1) // 2
            units = self._units(self.text[start:middle])
            if units <= left:
                start, left = middle, left - units
            else:
                stop = middle - 1
        return start

    def position(self, offset: int) -> types.Position:
        """The position of a code point, in the editor's units."""
        line = bisect_right(self._line_starts, offset) - 1
        return types.Position(line, self._units(self.text[self._line_starts[line] : offset]))

    def range(self, start: int, stop: int) -> types.Range:
        """The range of the code points from `start` to before `stop`."""
        return types.Range(self.position(start), self.position(stop))

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(end.end() for end in _LINE_END.finditer(self.text))]

    @cached_property
    def _line_stops(self) -> list[int]:
        return [*(end.start() for end in _LINE_END.finditer(self.text)), len(self.text)]

    def _units(self, text: str) -> int:
        """How many of the editor's units a text takes; lone surrogates count as an editor counts them."""
        if self.encoding == types.PositionEncodingKind.Utf8:
            return len(text.encode("utf-8", "surrogatepass"))
        if self.encoding == types.PositionEncodingKind.Utf32:
            return len(text)
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
