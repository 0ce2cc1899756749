"""The words that rules know, in two shipped files; scripts/build_rule_words.py writes them."""

import lzma
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

SHORTEST, LONGEST = 4, 8
"""How many characters long words, idioms among them, have."""


class Words:
    """Simplified words; NOTICE.md says where they come from.

    Each set is read when it is first asked for: most short texts need the idioms alone.
    """

    @cached_property
    def idioms(self) -> frozenset[str]:
        """Idioms of four to eight characters that are in use, and so may be meant."""
        return frozenset(self._idiom_lines[0].split())

    @cached_property
    def mistakes(self) -> frozenset[str]:
        """Idioms with a wrong character that only sounds like the right one, as people write them."""
        return frozenset(self._idiom_lines[1].split())

    @cached_property
    def right_as_they_are(self) -> frozenset[str]:
        """What looks like an idiom with a character missing or two swapped, and is common in right text."""
        return frozenset(self._idiom_lines[2].split())

    @cached_property
    def long_words(self) -> frozenset[str]:
        """The idioms and other words of four to eight characters, each of them right as it stands."""
        return self.idioms.union(self._word_lines[0].split())

    def long_words_over(self, text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Start and stop of the long words that share a character with text[start:stop]."""
        for length in range(SHORTEST, LONGEST + 1):
            for first in range(max(0, start - length + 1), stop):
                if text[first : first + length] in self.long_words:
                    yield first, first + length

    @cached_property
    def short_words(self) -> frozenset[str]:
        """Words of two characters."""
        return frozenset(_pairs(self._word_lines[1]))

    @cached_property
    def bound(self) -> frozenset[str]:
        """Characters that hardly ever stand alone as a word, and are never doubled."""
        return frozenset(self._word_lines[2])

    @cached_property
    def variants(self) -> frozenset[str]:
        """Two characters, the lower code point first, that idioms have in place of one another."""
        return frozenset(_pairs(self._word_lines[3]))

    @cached_property
    def _idiom_lines(self) -> list[str]:
        return _shipped("idioms.txt").decode("utf-8").split("\n")

    @cached_property
    def _word_lines(self) -> list[str]:
        return lzma.decompress(_shipped("words.txt.xz")).decode("utf-8").split("\n")


@cache
def words() -> Words:
    """The shipped words."""
    return Words()


def _shipped(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()


def _pairs(characters: str) -> list[str]:
    return [characters[start : start + 2] for start in range(0, len(characters), 2)]
