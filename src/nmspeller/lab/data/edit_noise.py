"""Noise that is no likeness: characters missing, extra, swapped, or replaced by ones that neither sound nor
look alike.

Shares are those counted in about 2,850 single slips of native writers (missing, extra, swapped) and in
errors of seven domains that resemble their corrections in nothing (unlike). A row becomes ids, the right
character of each, and tags: bits that say whether the character is extra and whether something is missing
before it; what is swapped follows from the right characters. Where an edit could stand in several places
(妈 of 妈妈 is missing), it stands in the last of them, as in `alignment`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nmspeller.lab.data.alignment import EXTRA, MISSING
from nmspeller.lab.data.neighbours import Neighbours
from nmspeller.runtime.reduplication import REDUPLICATED
from nmspeller.text.vocabulary import Vocabulary

KINDS = ("missing", "extra", "swapped")

# Missing: inside a word, a word of one character; the rest are words of two characters.
_INSIDE_WORD, _ONE_CHARACTER = 0.56, 0.29
_LAST_OF_WORD = 0.62
_WORD_INSIDE_WORD = 0.02  # how much a character counts as a word of its own inside one of two characters
# Extra: an immediate repetition, something repeated from nearby; the rest are foreign characters.
_REPEATED, _FROM_NEARBY = 0.44, 0.11
_REPEATED_WORD = 0.4
_NEARBY = 6
_TWO_FOREIGN = 0.2
_FOREIGN = (0.45, 0.2)  # a successor, a predecessor; the rest by frequency
# Swapped: what is exchanged with what, in characters.
_BLOCKS = ((1, 1), (1, 2), (2, 1), (2, 2))
_BLOCK_SHARES = (0.72, 0.1, 0.1, 0.08)
_SWAPPED_IN_WORD = 0.6  # of two characters
# Unlike: a successor, a predecessor, a character within ten places; the rest by frequency.
_UNLIKE = (0.35, 0.15, 0.25)
_WITHIN = 10
_TWICE = 0.35  # the share of rows with two errors of a kind instead of one
_TRIALS = 8


@dataclass
class Line:
    """A row under change.

    ids: what is written; labels: the right character of each, itself where extra.
    tags: one more than ids: the last is of the end of the row.
    """

    ids: list[int]
    labels: list[int]
    tags: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tags = self.tags or [0] * (len(self.ids) + 1)

    def insert(self, place: int, added: list[int], labels: list[int] | None = None) -> None:
        """Write extra characters before a place, or before the last place where that reads the same."""
        ids, size = self.ids[:place] + added + self.ids[place:], len(added)
        while place + size < len(ids) and ids[place] == ids[place + size]:
            place += 1
        self.ids = ids
        self.labels[place:place] = ids[place : place + size] if labels is None else labels
        self.tags[place:place] = [EXTRA] * size

    def remove(self, place: int, size: int) -> None:
        """Leave characters out; the tag is where they are missing, at the last place that reads the same."""
        gone = self.ids[place : place + size]
        for part in (self.ids, self.labels, self.tags):
            del part[place : place + size]
        while place < len(self.ids) and gone[0] == self.ids[place]:
            gone = [*gone[1:], gone[0]]
            place += 1
        self.tags[place] |= MISSING


class EditNoise:
    """Changes rows of ids; `limit` is how many characters a row may have afterwards."""

    def __init__(self, neighbours: Neighbours, vocabulary: Vocabulary, limit: int) -> None:
        self._neighbours, self._limit = neighbours, limit
        self._hanzi = vocabulary.is_hanzi()
        self._mask, self._no_target = vocabulary.mask, vocabulary.unk
        self._reduplicated = {tuple(vocabulary.encode(verb).tolist()) for verb in REDUPLICATED}
        self._ways: dict[str, Callable[[Line, np.random.Generator], bool]] = {
            "missing": self._leave_out,
            "extra": self._add,
            "swapped": self._swap,
        }

    def edit(self, line: Line, kinds: NDArray[np.floating], random: np.random.Generator) -> None:
        """One or two errors, each of a kind drawn by the cumulative shares of KINDS, (3,)."""
        for _ in range(1 + (random.random() < _TWICE)):
            way = self._ways[KINDS[int(np.searchsorted(kinds[:-1], random.random(), side="right"))]]
            # Some places cannot be used; a short row may have none.
            any(way(line, random) for _ in range(_TRIALS))

    def make_unlike(self, line: Line, random: np.random.Generator) -> None:
        """Replace one or two characters by others that fit their neighbours, or nothing."""
        for _ in range(1 + (random.random() < _TWICE)):
            any(self._replace(line, random) for _ in range(_TRIALS))

    def add_masks(self, line: Line, random: np.random.Generator) -> None:
        """Put one [MASK] too many or too few into a gap, so that a speller that fills gaps can tell.

        Nothing is missing: [MASK] is extra. One character is missing: the second of two is. Two are missing:
        [MASK] is the first, and something is missing behind it.
        """
        place = int(random.integers(len(line.ids) + 1))
        drawn = random.random()
        if drawn < 0.5:
            if len(line.ids) < self._limit:
                line.insert(place, [self._mask], [self._no_target])
            return
        size = 1 if drawn < 0.75 else 2
        if not self._free(line, place, size) or len(line.ids) >= self._limit:
            return
        line.ids[place] = self._mask
        if size == 1:
            line.insert(place + 1, [self._mask], [self._no_target])
        else:
            line.remove(place + 1, 1)

    def _free(self, line: Line, place: int, size: int) -> bool:
        """Whether so many characters from a place on, and the next, are as they should be, and Hanzi."""
        here = slice(place, place + size)
        return (
            place >= 0
            and place + size <= len(line.ids)
            and line.ids[here] == line.labels[here]
            and not any(line.tags[place : place + size + 1])
            and all(self._hanzi[number] for number in line.ids[here])
        )

    def _leave_out(self, line: Line, random: np.random.Generator) -> bool:
        ids = np.array(line.ids)
        if len(ids) < 4:
            return False
        begins, size = self._neighbours.begin_words(ids), 1
        drawn = random.random()
        if _INSIDE_WORD <= drawn < _INSIDE_WORD + _ONE_CHARACTER:
            weights = self._neighbours.alone[ids] * self._hanzi[ids]
            weights[:-1] *= np.where(begins, _WORD_INSIDE_WORD, 1)
            weights[1:] *= np.where(begins, _WORD_INSIDE_WORD, 1)
            if not weights.any():
                return False
            cumulative = np.cumsum(weights)
            place = int(np.searchsorted(cumulative, random.random() * cumulative[-1], side="right"))
        else:
            words = np.flatnonzero(begins)
            if not len(words):
                return False
            place = int(words[random.integers(len(words))])
            if drawn < _INSIDE_WORD:
                place += random.random() < _LAST_OF_WORD
            else:
                size = 2
        if not self._free(line, place, size):
            return False
        line.remove(place, size)
        return True

    def _add(self, line: Line, random: np.random.Generator) -> bool:
        drawn = random.random()
        if drawn < _REPEATED:
            place, added = self._repetition(line, random)
        else:
            place = int(random.integers(1, len(line.ids) + 1))
            if drawn < _REPEATED + _FROM_NEARBY:
                away = int(random.integers(2, _NEARBY + 1)) * (1 if random.random() < 0.5 else -1)
                added = line.ids[max(place + away, 0) : max(place + away, 0) + 1]
            else:
                added = self._foreign(line, place, random)
        after = self._neighbours.begin_words
        fits = 0 < len(added) <= self._limit - len(line.ids) and all(self._hanzi[each] for each in added)
        inside = (0 < place < len(line.ids) and line.tags[place] == 0) or place == len(line.ids)
        if not fits or not inside or not self._hanzi[line.ids[place - 1]]:
            return False
        doubled = len(added) == 1 and added[0] in line.ids[place - 1 : place + 1]
        if doubled and after(np.array([added[0], added[0]]))[0]:
            return False  # 看看 is as right as 看
        around = line.ids[max(place - 3, 0) : place] + added + line.ids[place : place + 3]
        if self._has_reduplication(around):
            return False
        line.insert(place, added)
        return True

    def _has_reduplication(self, ids: list[int]) -> bool:
        """Whether a verb stands twice as it may: 研究研究 is as right as 研究."""
        return any(
            ids[place : place + 2] == ids[place + 2 : place + 4]
            and tuple(ids[place : place + 2]) in self._reduplicated
            for place in range(len(ids) - 3)
        )

    def _repetition(self, line: Line, random: np.random.Generator) -> tuple[int, list[int]]:
        """Where a character or a word of two stands again, and what that is."""
        if random.random() < _REPEATED_WORD and len(line.ids) > 2:
            words = np.flatnonzero(self._neighbours.begin_words(np.array(line.ids)))
            if len(words):
                place = int(words[random.integers(len(words))])
                return place + 2, line.ids[place : place + 2]
        place = int(random.integers(len(line.ids)))
        return place + 1, line.ids[place : place + 1]

    def _foreign(self, line: Line, place: int, random: np.random.Generator) -> list[int]:
        added = [self._any_of(line, place, _FOREIGN, random)]
        if random.random() < _TWO_FOREIGN:
            added.append(self._neighbours.draw_after(added[0], random))
        repeats = added[0] in line.ids[place - 1 : place + 1] or added[-1] in line.ids[place : place + 1]
        return [] if repeats else added

    def _any_of(
        self, line: Line, place: int, shares: tuple[float, ...], random: np.random.Generator, skip: int = 0
    ) -> int:
        """A successor of what stands before a place, a predecessor of what stands behind it, or any."""
        drawn = random.random()
        if drawn < shares[0] and place > 0:
            return self._neighbours.draw_after(line.ids[place - 1], random)
        if shares[0] <= drawn < shares[0] + shares[1] and place + skip < len(line.ids):
            return self._neighbours.draw_before(line.ids[place + skip], random)
        return self._neighbours.draw(random)

    def _swap(self, line: Line, random: np.random.Generator) -> bool:
        first, second = _BLOCKS[int(np.searchsorted(np.cumsum(_BLOCK_SHARES[:-1]), random.random()))]
        size = first + second
        if len(line.ids) < size:
            return False
        place = int(random.integers(len(line.ids) - size + 1))
        if size == 2 and random.random() < _SWAPPED_IN_WORD:
            words = np.flatnonzero(self._neighbours.begin_words(np.array(line.ids)))
            place = int(random.choice(words)) if len(words) else place
        if not self._free(line, place, size):
            return False
        here = line.ids[place : place + size]
        swapped = here[first:] + here[:first]
        if swapped == here:
            return False
        line.ids[place : place + size] = swapped
        return True

    def _replace(self, line: Line, random: np.random.Generator) -> bool:
        if not line.ids:
            return False
        place = int(random.integers(len(line.ids)))
        if not self._free(line, place, 1):
            return False
        if random.random() < _UNLIKE[2]:
            near = place + int(random.integers(-_WITHIN, _WITHIN + 1))
            other = line.ids[min(max(near, 0), len(line.ids) - 1)]
        else:
            rest = 1 - _UNLIKE[2]
            other = self._any_of(line, place, (_UNLIKE[0] / rest, _UNLIKE[1] / rest), random, skip=1)
        if other == line.ids[place] or not self._hanzi[other]:
            return False
        line.ids[place] = other
        return True
