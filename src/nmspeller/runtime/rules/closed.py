"""Which stretches of a text are closed to rules."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from nmspeller.text.protect import Span

NUMBERS = frozenset(("number", "amount"))


class Closed:
    """The protected spans of a text, for many questions; spans of the kinds in `but` are open."""

    def __init__(self, spans: Sequence[Span], but: frozenset[str] = frozenset()) -> None:
        self._spans, self._but = spans, but

    @cached_property
    def _bounds(self) -> tuple[list[int], list[int]]:
        """The starts and the stops of the closed stretches, made when they are first asked for: most texts
        have nothing that a rule would ask about."""
        starts: list[int] = []
        stops: list[int] = []
        for start, stop, kind in sorted(self._spans):
            if kind in self._but:
                continue
            if stops and start <= stops[-1]:
                stops[-1] = max(stop, stops[-1])
            elif start < stop:
                starts.append(start)
                stops.append(stop)
        return starts, stops

    def overlaps(self, start: int, stop: int) -> bool:
        """Whether text[start:stop], or the gap where start equals stop, reaches into a closed stretch."""
        starts, stops = self._bounds
        before = bisect_right(starts, max(start, stop - 1)) - 1
        if before < 0:
            return False
        if start == stop:
            return starts[before] < start < stops[before]
        return stops[before] > start
