"""Find stretches that are one character away from an idiom, in time that grows linearly with the text."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nmspeller.runtime.rules.likeness import is_confusable
from nmspeller.text.words import WordMatcher

_ANY = "\0"


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
        self._lengths_by_first: defaultdict[str, set[int]] = defaultdict(set)
        self._lengths_by_second: defaultdict[str, set[int]] = defaultdict(set)
        # The characters that fit the gap, by the idiom with a gap in it.
        self._fitting: defaultdict[str, str] = defaultdict(str)
        for idiom in self._idioms:
            middle = len(idiom) // 2
            self._lengths_by_first[idiom[:middle]].add(len(idiom))
            self._lengths_by_second[idiom[middle:]].add(len(idiom))
            for place, character in enumerate(idiom):
                self._fitting[idiom[:place] + _ANY + idiom[place + 1 :]] += character
        self._halves = WordMatcher({*self._lengths_by_first, *self._lengths_by_second})

    def near(self, text: str) -> Iterator[Near]:
        """Every stretch that is one character away from an idiom, a confusable one or as a known mistake."""
        for start, stop in self._halves.matches(text):
            half = text[start:stop]
            for length in self._lengths_by_first.get(half, ()):
                yield from self._completed(text, start, length, range(stop - start, length))
            for length in self._lengths_by_second.get(half, ()):
                yield from self._completed(text, stop - length, length, range(length - (stop - start)))

    def _completed(self, text: str, start: int, length: int, places: range) -> Iterator[Near]:
        stretch = text[start : start + length] if start >= 0 else ""
        if len(stretch) < length or stretch in self._idioms:
            return
        for place in places:
            before, after = stretch[:place], stretch[place + 1 :]
            for character in self._fitting.get(before + _ANY + after, ()):
                if stretch in self._mistakes or is_confusable(stretch[place], character):
                    yield Near(start, place, before + character + after)
