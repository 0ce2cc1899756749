"""A long text in parts that are checked one after the other, so that others get their turn in between.

A text is cut only where no window of the model reaches over the cut, and never inside what must not be
changed; so the parts' corrections put together are exactly the correction of the whole.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from nmspeller.runtime.correction import Correction, apply_edits
from nmspeller.text.protect import protected_spans
from nmspeller.text.windows import split

_PART_LENGTH = 1_000


class Part(NamedTuple):
    """A stretch of a text, and where it starts there."""

    start: int
    text: str


def split_into_parts(text: str, window: int) -> list[Part]:
    """Parts that cover the text, each as short as it may be from a thousand characters on.

    `window` is how many characters the model reads at a time.
    """
    if len(text) <= _PART_LENGTH:
        return [Part(0, text)] if text else []
    parts: list[Part] = []
    start = 0
    for cut in _harmless_cuts(text, window):
        if cut - start >= _PART_LENGTH:
            parts.append(Part(start, text[start:cut]))
            start = cut
    return [*parts, Part(start, text[start:])]


def _harmless_cuts(text: str, window: int) -> Iterable[int]:
    """Where a line or sentence begins before which nothing is needed to read what follows."""
    protected = deque(protected_spans(text))
    for read in split(text, window):
        cut = read.keep_start
        while protected and protected[0].stop <= cut:
            protected.popleft()
        is_inside = bool(protected) and protected[0].start < cut
        # An ASCII sign may well stand inside a name of the user's list, such as Yahoo!奇摩.
        ends_well = cut > 0 and (text[cut - 1].isspace() or not text[cut - 1].isascii())
        if read.start == cut and ends_well and not is_inside:
            yield cut


def join_parts(text: str, checked: Iterable[tuple[int, Correction]]) -> Correction:
    """The correction of a text from those of its parts, in order, each with where its part starts."""
    edits = tuple(
        replace(edit, offset=start + edit.offset)
        for start, correction in checked
        for edit in correction.edits
    )
    return Correction(text, apply_edits(text, edits), edits)
