"""An open document, and the conversion of the editor's positions to offsets.

The document class of pygls breaks lines where Python does (form feeds, U+2028 and others), unlike the
protocol, so that every position after such a character would be off by a line.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise

from lsprotocol import types

from nmspeller.text.patterns import lazy_pattern

_LINE_END = lazy_pattern("\r\n|\n|\r")
_STRIDE = 500


@dataclass(frozen=True)
class OpenDocument:
    """One version of an open document; it is immutable, so that a thread can read it safely."""

    uri: str
    language: str
    version: int | None
    text: str
    encoding: str = types.PositionEncodingKind.Utf16.value

    def changed(
        self, changes: Iterable[types.TextDocumentContentChangeEvent], version: int | None
    ) -> "OpenDocument":
        """The document after the editor's changes, each of which refers to the result of the one before.

        Replacing a word everywhere is one message with thousands of changes; each costs only its own lines.
        """
        lines = self._lines.copy()
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                self._change(lines, change)
            else:
                lines = _split(change.text)
        return replace(self, version=version, text="".join(lines))

    def offset(self, position: types.Position) -> int:
        """The offset of a position; one beyond a line is the line's end, one inside a character its start."""
        line, column = self._place(self._lines, position)
        return self._line_starts[line] + column

    def position(self, offset: int) -> types.Position:
        """The position of a code point, in the editor's units."""
        line = bisect_right(self._line_starts, offset) - 1
        return types.Position(line, self._units_before(offset) - self._units_before(self._line_starts[line]))

    def range(self, start: int, stop: int) -> types.Range:
        """The range of the code points from `start` to before `stop`."""
        return types.Range(self.position(start), self.position(stop))

    def _change(self, lines: list[str], change: types.TextDocumentContentChangePartial) -> None:
        first, left = self._place(lines, change.range.start)
        last, right = max((first, left), self._place(lines, change.range.end))
        # Include the line before: its carriage return and a new line feed may form one line end.
        start = max(0, first - 1)
        before = [*lines[start:first], lines[first][:left]]
        changed = _split("".join([*before, change.text, lines[last][right:]]))
        is_the_end = last + 1 == len(lines)
        lines[start : last + 1] = changed if is_the_end else changed[:-1]

    def _place(self, lines: list[str], position: types.Position) -> tuple[int, int]:
        """The line of a position, and the code point in it."""
        if position.line >= len(lines):
            return len(lines) - 1, len(lines[-1])
        return position.line, self._column(lines[position.line], position.character)

    def _column(self, line: str, left: int) -> int:
        """The code point of a line that has `left` units before it."""
        start, stop = 0, len(line.rstrip("\r\n"))
        # Bisection counts each part of the line at most once, which is faster than character by character.
        while start < stop:
            middle = (start + stop + 1) // 2
            units = self._units(line[start:middle])
            if units <= left:
                start, left = middle, left - units
            else:
                stop = middle - 1
        return start

    @cached_property
    def _lines(self) -> list[str]:
        return _split(self.text)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *accumulate(map(len, self._lines[:-1]))]

    def _units_before(self, offset: int) -> int:
        stride = offset // _STRIDE
        return self._units_before_strides[stride] + self._units(self.text[stride * _STRIDE : offset])

    @cached_property
    def _units_before_strides(self) -> list[int]:
        """Counted once; otherwise each finding in a very long line would count everything before it."""
        strides = (self.text[start : start + _STRIDE] for start in range(0, len(self.text), _STRIDE))
        return [0, *accumulate(map(self._units, strides))]

    def _units(self, text: str) -> int:
        """The length of a text in the editor's units; lone surrogates count as in editors."""
        if self.encoding == types.PositionEncodingKind.Utf8:
            return len(text.encode("utf-8", "surrogatepass"))
        if self.encoding == types.PositionEncodingKind.Utf32:
            return len(text)
        return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _split(text: str) -> list[str]:
    """The lines of a text, each with its end; the last one, which may be empty, has none."""
    ends = [end.end() for end in _LINE_END.finditer(text)]
    return [text[start:stop] for start, stop in pairwise([0, *ends, len(text)])]
