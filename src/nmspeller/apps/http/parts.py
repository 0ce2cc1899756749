"""A long text in parts that are checked one after the other, so that other requests are served in between.

A text is best cut where no window of the model reaches over the cut, and nothing that must not be changed:
there one part is read without the other. Where no such place comes for long, as in a line without a sentence
end, neighbouring parts overlap: each is read with a window of the other, from which it keeps nothing. Either
way the model reads what it would read in the whole, so the parts' edits put together are those of the whole;
but whether a sentence is Traditional is detected for each of its parts. Where protected spans are too dense
for either, parts overlap by more than windows, and a window may begin elsewhere.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from nmspeller.runtime.correction import Correction, Edit
from nmspeller.text.protect import Span, protected_spans
from nmspeller.text.windows import split

_PART_LENGTH = 1_000
# For how many windows to look for a better place: where parts overlap, two windows are read twice.
_BEFORE_OVERLAP = 2
_BEFORE_OTHER_WINDOWS = 4
# Half a Latin word is still a Latin word, so a part may begin or end inside one.
_DIVISIBLE_KINDS = frozenset(("latin", "number"))


class Part(NamedTuple):
    """Read `text`, which is at `start` of the whole, and keep the edits of whole[keep_start:keep_stop]."""

    start: int
    text: str
    keep_start: int
    keep_stop: int

    def own_edits(self, correction: Correction, done: int) -> tuple[Edit, ...]:
        """The edits of the part's text that are the part's own, with their offsets in the whole.

        An edit is of the part in which it begins. It may reach into the next one, so `done` says where the
        last edit before this part ends.
        """
        moved = [replace(edit, offset=self.start + edit.offset) for edit in correction.edits]
        first = max(self.keep_start, done)
        return tuple(edit for edit in moved if first <= edit.offset < self.keep_stop)


class _Cut(NamedTuple):
    """A part ends and the next begins at `place`; the one is read up to `stop`, the other from `start` on.

    `patience`: for how many windows to look for a better cut first.
    """

    place: int
    start: int
    stop: int
    patience: int = 0


def split_into_parts(text: str, window: int) -> list[Part]:
    """Parts that cover the text, each as short as it may be from a thousand characters on.

    `window` is how many characters the model reads at a time.
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


def _chosen_cuts(text: str, window: int) -> Iterator[_Cut]:
    start = 0
    for cut in _possible_cuts(text, window):
        if cut.place - start >= _PART_LENGTH + cut.patience * window:
            yield cut
            start = cut.place


def _possible_cuts(text: str, window: int) -> Iterator[_Cut]:
    """Between windows, and so that what must not be changed is whole in every part that keeps some of it."""
    spans = [span for span in protected_spans(text) if span.kind not in _DIVISIBLE_KINDS]
    for before, after in pairwise(split(text, window)):
        place = after.keep_start
        # An ASCII sign may be inside a name of the user's list, such as Yahoo!奇摩.
        is_safe_end = text[place - 1].isspace() or not text[place - 1].isascii()
        if after.start == place and is_safe_end and _divided(place, spans) is None:
            yield _Cut(place, place, place)
            continue
        first, last = _divided(before.start, spans), _divided(after.stop, spans)
        start = first.start if first else before.start
        stop = last.stop if last else after.stop
        if start == before.start and stop == after.stop:
            yield _Cut(place, start, stop, _BEFORE_OVERLAP)
        elif stop - start <= 4 * window:  # or a long block of code would be read with each of its parts
            yield _Cut(place, start, stop, _BEFORE_OTHER_WINDOWS)


def _divided(place: int, spans: list[Span]) -> Span | None:
    """The one of the spans, which are in order and disjoint, that the place is inside of."""
    before = bisect_left(spans, place, key=lambda span: span.start) - 1
    return spans[before] if before >= 0 and place < spans[before].stop else None
