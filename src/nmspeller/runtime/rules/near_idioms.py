"""Find stretches that are one character away from an idiom, in time that grows linearly with the text."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nmspeller.runtime.rules.likeness import is_confusable
from nmspeller.text.words import WordMatcher


class Near(NamedTuple):
    """The stretch at `start` is `idiom` but for the character at `place` in it."""

    start: int
    place: int
    idiom: str

    @property
    def stop(self) -> int:
        """Where the stretch ends."""
        return self.start + len(self.idiom)

    @property
    def doubtful(self) -> int:
        """Where the wrong character stands in the text."""
        return self.start + self.place


class NearIdioms:
    """Idioms by their halves, which an automaton finds: one wrong character leaves one half right."""

    def __init__(self, idioms: Iterable[str], mistakes: frozenset[str] = frozenset()) -> None:
        self._idioms, self._mistakes = frozenset(idioms), mistakes
        self._by_first: defaultdict[str, list[str]] = defaultdict(list)
        self._by_second: defaultdict[str, list[str]] = defaultdict(list)
        for idiom in self._idioms:
            middle = len(idiom) // 2
            self._by_first[idiom[:middle]].append(idiom)
            self._by_second[idiom[middle:]].append(idiom)
        self._halves = WordMatcher({*self._by_first, *self._by_second})

    def near(self, text: str) -> Iterator[Near]:
        """Every stretch that is one character away from an idiom, a confusable one or as a known mistake."""
        for start, stop in self._halves.matches(text):
            half = text[start:stop]
            for idiom in self._by_first.get(half, ()):
                yield from self._compared(text, start, idiom)
            for idiom in self._by_second.get(half, ()):
                yield from self._compared(text, stop - len(idiom), idiom)

    def _compared(self, text: str, start: int, idiom: str) -> Iterator[Near]:
        as_written = text[start : start + len(idiom)] if start >= 0 else ""
        if len(as_written) < len(idiom) or as_written in self._idioms:
            return
        wrong = [place for place, (a, b) in enumerate(zip(as_written, idiom, strict=True)) if a != b]
        if len(wrong) == 1:
            [place] = wrong
            if as_written in self._mistakes or is_confusable(as_written[place], idiom[place]):
                yield Near(start, place, idiom)
