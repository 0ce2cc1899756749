"""Find the words of a long list in a text, all in one pass (Aho-Corasick)."""

from collections.abc import Iterable, Iterator

import ahocorasick

from nmspeller.errors import InputError
from nmspeller.messages import _


class _TwoSymbols(dict[int, str]):
    """For str.translate: each character as two symbols, its high bits and its low byte."""

    def __missing__(self, code_point: int) -> str:
        symbols = self[code_point] = chr(code_point >> 8) + chr(code_point & 0xFF)
        return symbols


_TWO_SYMBOLS = _TwoSymbols()


def _symbols(text: str) -> str:
    """The text with two symbols for each character.

    The automaton looks for a node's child in a list, and a list of words starts with thousands of characters.
    With two symbols a character no node has more than a few hundred children: both building and searching are
    several times faster.
    """
    # As _TWO_SYMBOLS does it, but for characters beyond the first plane, and many times faster.
    symbols = text.encode("utf-16-be", "surrogatepass").decode("latin-1")
    return symbols if len(symbols) == 2 * len(text) else text.translate(_TWO_SYMBOLS)


class WordMatcher:
    """Finds the words of a list; building it takes well under a second for 100,000 words."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(word for word in words if word)
        for word in self.words:
            if not isinstance(word, str):
                raise InputError(_("a word must be a string, not {word!r}.").format(word=word))
        self._automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS)
        for word in self.words:
            self._automaton.add_word(_symbols(word), len(word))
        self._automaton.make_automaton()

    def __len__(self) -> int:
        """The number of different words."""
        return len(self._automaton)

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and stop of every occurrence of every word, in the order of their stops."""
        if not len(self._automaton):
            return
        for last_symbol, length in self._automaton.iter(_symbols(text)):
            # What ends with a high symbol begins inside a character.
            if last_symbol % 2:
                stop = last_symbol // 2 + 1
                yield stop - length, stop

    def ranges(self, text: str) -> list[tuple[int, int]]:
        """Start and stop of every range that words cover, in order; overlapping words are one range."""
        covered: list[tuple[int, int]] = []
        for start, stop in self.matches(text):
            # Matches come in the order of their stops, so only the latest ranges can overlap this one.
            while covered and covered[-1][1] > start:
                start = min(start, covered.pop()[0])
            covered.append((start, stop))
        return covered
