"""What the model reads of a text: the text as certain edits leave it, in Simplified characters, in parts.

A part is what one window of the model holds. It depends on its own characters alone, so parts can be read in
any order and company, and a part that was read before need not be read again.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nmspeller.runtime.correction import apply_edits
from nmspeller.runtime.edits import Change, edits_of
from nmspeller.runtime.findings import Edit
from nmspeller.text.script import Script, simplify
from nmspeller.text.windows import split

# White space at the edges of a row is rare in training data.
_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u2028\u2029\u3000\ufeff"


class Part(NamedTuple):
    """Characters that the model reads together, at most a window of them.

    What it finds outside text[keep_start:keep_stop], the context, is dropped. The `locked` ranges, in order,
    must not be changed.
    """

    text: str
    keep_start: int
    keep_stop: int
    locked: tuple[tuple[int, int], ...] = ()


class _EditedSpan(NamedTuple):
    """source[start:stop] is written as mended[mended_start:mended_stop]."""

    start: int
    stop: int
    mended_start: int
    mended_stop: int


class Mended:
    """A text with edits applied that need no model, and the way between its places and the source's."""

    def __init__(self, source: str, edits: Sequence[Edit]) -> None:
        self.text = apply_edits(source, edits) if edits else source
        self.edited: list[_EditedSpan] = []
        growth = 0
        for edit in edits:
            start = edit.offset + growth
            self.edited.append(_EditedSpan(edit.offset, edit.stop, start, start + len(edit.target)))
            growth += len(edit.target) - edit.length
        self._starts = [span.start for span in self.edited]
        self._mended_starts = [span.mended_start for span in self.edited]

    def to_source(self, place: int) -> int:
        """Where the character at `place` stands in the source; inside an edit, where that begins."""
        before = bisect_right(self._mended_starts, place) - 1
        if before < 0:
            return place
        span = self.edited[before]
        return span.stop + place - span.mended_stop if place >= span.mended_stop else span.start

    def range_of(self, start: int, stop: int) -> tuple[int, int]:
        """Where source[start:stop], which is not empty, stands in the text; edits are not divided."""
        first, last = bisect_right(self._starts, start) - 1, bisect_left(self._starts, stop) - 1
        mended_start, mended_stop = start, stop
        if first >= 0:
            before = self.edited[first]
            inside = start < before.stop
            mended_start = before.mended_start if inside else before.mended_stop + start - before.stop
        if last >= 0:
            before = self.edited[last]
            mended_stop = before.mended_stop + max(0, stop - before.stop)
        return mended_start, mended_stop


class _Window(NamedTuple):
    """A part, where it begins in the mended text, and the range of the source that it answers for."""

    part: Part
    start: int
    source_start: int
    source_stop: int


class Reading:
    """One text on its way to the model and back.

    certain: edits that need no model, in order; the model reads the text as they leave it. locked: ranges of
    the source that must not be changed.

    Attributes:
        parts: what the model reads; together they cover the text.
        starts: where each part begins in the text as the certain edits leave it.
    """

    def __init__(
        self,
        source: str,
        *,
        window: int,
        certain: Sequence[Edit] = (),
        locked: Iterable[tuple[int, int]] = (),
        document_script: Script = Script.NEUTRAL,
    ) -> None:
        self.source = source
        self._mended = Mended(source, certain)
        self._simplified = simplify(self._mended.text, document_script)
        self._windows = self._split(window, self._locked(locked))
        self.parts = [window.part for window in self._windows]
        self.starts = [window.start for window in self._windows]

    def bounds(self, number: int) -> tuple[int, int]:
        """The range of the source that a part answers for; those of all parts cover it."""
        window = self._windows[number]
        return window.source_start, window.source_stop

    def edits(self, number: int, changes: Iterable[Change]) -> list[Edit]:
        """What the model changes in a part, as edits of the source."""
        part, start = self._windows[number].part, self._windows[number].start
        kept = [change for change in changes if self._belongs(change, part, start)]
        if not kept:
            return []
        text = self._simplified.part(start, start + len(part.text))
        return edits_of(kept, text, [self._source_place(start, part, change) for change in kept])

    def _belongs(self, change: Change, part: Part, start: int) -> bool:
        """Whether a part keeps a change; an insertion between two parts belongs to the one behind it."""
        stop = change.offset + change.length
        if change.length or change.offset < part.keep_stop:
            return part.keep_start <= change.offset and stop <= part.keep_stop
        text, end = self._simplified.text, start + len(part.text)
        return change.offset == part.keep_stop == len(part.text) and (
            end == len(text) or text[end] in _BLANKS
        )

    def _source_place(self, start: int, part: Part, change: Change) -> int:
        """Where a change begins in the source; an insertion at the end of a part stands right behind it."""
        if change.offset == len(part.text) > 0:
            return self._mended.to_source(start + change.offset - 1) + 1
        return self._mended.to_source(start + change.offset)

    def _locked(self, locked: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """The ranges of the mended text that must not be changed, in order and disjoint."""
        if self._mended.edited:
            locked = [self._mended.range_of(start, stop) for start, stop in locked]
            locked += [(span.mended_start, span.mended_stop) for span in self._mended.edited]
        merged: list[tuple[int, int]] = []
        for start, stop in sorted(locked):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
            else:
                merged.append((start, stop))
        return merged

    def _split(self, limit: int, locked: list[tuple[int, int]]) -> list[_Window]:
        found = []
        text = self._simplified.text
        source_start = 0
        windows = split(text, limit)
        for start, stop, keep_start, keep_stop in windows:
            source_stop = len(self.source) if keep_stop == len(text) else self._mended.to_source(keep_stop)
            ended = text[start:stop].rstrip(_BLANKS)
            stripped = ended.lstrip(_BLANKS)
            start += len(ended) - len(stripped)
            part = Part(
                stripped,
                max(0, keep_start - start),
                max(0, min(len(stripped), keep_stop - start)),
                tuple(_inside(locked, start, start + len(stripped))),
            )
            found.append(_Window(part, start, source_start, source_stop))
            source_start = source_stop
        if not found and self.source:  # all of it was deleted
            found.append(_Window(Part("", 0, 0), 0, 0, len(self.source)))
        return found


def _inside(ranges: list[tuple[int, int]], start: int, stop: int) -> Iterable[tuple[int, int]]:
    """The ranges, which are in order and disjoint, as far as they lie in start:stop, counted from there."""
    number = bisect_right(ranges, start, key=lambda bounds: bounds[1])
    while number < len(ranges) and ranges[number][0] < stop:
        first, last = ranges[number]
        yield max(first, start) - start, min(last, stop) - start
        number += 1
