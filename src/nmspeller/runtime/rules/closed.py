"""Which stretches of a text are closed to rules."""

from bisect import bisect_right
from collections.abc import Sequence

from nmspeller.text.protect import Span

NUMBERS = frozenset(("number", "amount"))


class Closed:
    """The protected spans of a text, made ready for many questions; spans of the kinds in `but` are open."""

    def __init__(self, spans: Sequence[Span], but: frozenset[str] = frozenset()) -> None:
        self._starts: list[int] = []
        self._stops: list[int] = []
        for start, stop, kind in sorted(spans):
            if kind in but:
                continue
            if self._stops and start <= self._stops[-1]:
                self._stops[-1] = max(stop, self._stops[-1])
            elif start < stop:
                self._starts.append(start)
                self._stops.append(stop)

    def overlaps(self, start: int, stop: int) -> bool:
        """Whether text[start:stop], or the gap where start equals stop, reaches into a closed stretch."""
        before = bisect_right(self._starts, max(start, stop - 1)) - 1
        if before < 0:
            return False
        if start == stop:
            return self._starts[before] < start < self._stops[before]
        return self._stops[before] > start
