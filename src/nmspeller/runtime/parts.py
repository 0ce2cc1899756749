"""A long text in parts that are checked one at a time, so that other texts can be checked in between.

The preferred place for a cut is one that no window of the model and no protected span crosses: the two parts
are then independent. If there is no such place for a while, as in a line without a sentence end,
neighbouring parts overlap: each includes a window of the other, whose edits it drops. In both cases the model
reads the windows of the whole text, so the edits of the parts together are the edits of the whole; only the
script (Simplified or Traditional) of a sentence is detected in each part separately. As a last resort, where
protected spans are dense, parts overlap by more than a window, and some windows differ from the whole's.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, TypeVar

from nmspeller.runtime.correction import Edit
from nmspeller.text.protect import Span, protected_spans
from nmspeller.text.windows import split

_PART_LENGTH = 1_000
# How many more windows to look for a better place: where parts overlap, two windows are read twice.
_BEFORE_OVERLAP = 2
_BEFORE_OTHER_WINDOWS = 4
# Half a Latin word is still protected as a Latin word, so a part may begin or end inside one.
_DIVISIBLE_KINDS = frozenset(("latin", "number"))

Item = TypeVar("Item")


class Part(NamedTuple):
    """Check `text`, at `start` of the whole, and keep the edits of whole[keep_start:keep_stop]."""

    start: int
    text: str
    keep_start: int
    keep_stop: int

    def moved(self, distance: int) -> "Part":
        """The same part of a text that has `distance` more characters before it."""
        return Part(self.start + distance, self.text, self.keep_start + distance, self.keep_stop + distance)

    def own_edits(self, edits: Iterable[Edit], done: int) -> tuple[Edit, ...]:
        """Those of the edits of `text` that the part keeps, with their offsets in the whole.

        An edit belongs to the part in which it begins. It may extend into the next part, so `done` is the end
        of the last edit of the parts before.
        """
        first = max(self.keep_start, done)
        in_whole = [replace(edit, offset=self.start + edit.offset) for edit in edits]
        return tuple(edit for edit in in_whole if first <= edit.offset < self.keep_stop)


class _Cut(NamedTuple):
    """A part ends and the next begins at `place`; the one includes text up to `stop`, the next from `start`.

    `patience` is how many windows beyond the usual length of a part to look for a better cut first.
    """

    place: int
    start: int
    stop: int
    patience: int = 0


def split_into_parts(text: str, window: int) -> list[Part]:
    """Parts that cover the text, each cut at the first possible place after a thousand characters.

    `window` is how many characters the model reads at once.
    """
    if not text:
        return []
    end = len(text)
    inner = _chosen_cuts(text, window) if end > _PART_LENGTH else ()
    cuts = (_Cut(0, 0, 0), *inner, _Cut(end, end, end))
    return [
        Part(before.start, text[before.start : after.stop], before.place, after.place)
        for before, after in pairwise(cuts)
    ]


def whole_edits(checked: Iterable[tuple[Part, Iterable[Edit]]]) -> Iterator[Edit]:
    """The edits of the whole text, from its parts in order, each with the edits of its own text."""
    done = 0
    for part, edits in checked:
        for edit in part.own_edits(edits, done):
            yield edit
            done = edit.offset + edit.length


def grouped(items: Iterable[Item], size: Callable[[Item], int], most: int) -> Iterator[list[Item]]:
    """Neighbouring items in lists of at most `most` characters by `size`, or of one item that has more."""
    group: list[Item] = []
    total = 0
    for item in items:
        if group and total + size(item) > most:
            yield group
            group, total = [], 0
        group.append(item)
        total += size(item)
    if group:
        yield group


def _chosen_cuts(text: str, window: int) -> Iterator[_Cut]:
    start = 0
    for cut in _possible_cuts(text, window):
        if cut.place - start >= _PART_LENGTH + cut.patience * window:
            yield cut
            start = cut.place


def _possible_cuts(text: str, window: int) -> Iterator[_Cut]:
    """Cuts between windows that leave every protected span whole in each part that keeps some of it."""
    spans = [span for span in protected_spans(text) if span.kind not in _DIVISIBLE_KINDS]
    for before, after in pairwise(split(text, window)):
        place = after.keep_start
        # ASCII punctuation may be inside a name of the user's list, such as Yahoo!奇摩.
        ends_well = text[place - 1].isspace() or not text[place - 1].isascii()
        if after.start == place and ends_well and _divided(place, spans) is None:
            yield _Cut(place, place, place)
            continue
        first, last = _divided(before.start, spans), _divided(after.stop, spans)
        start = first.start if first else before.start
        stop = last.stop if last else after.stop
        if start == before.start and stop == after.stop:
            yield _Cut(place, start, stop, _BEFORE_OVERLAP)
        elif stop - start <= 4 * window:  # otherwise a long code block would be read again with each part
            yield _Cut(place, start, stop, _BEFORE_OTHER_WINDOWS)


def _divided(place: int, spans: list[Span]) -> Span | None:
    """The span that the place lies inside, if any; the spans are in order and disjoint."""
    before = bisect_left(spans, place, key=lambda span: span.start) - 1
    return spans[before] if before >= 0 and place < spans[before].stop else None
