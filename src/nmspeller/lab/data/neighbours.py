"""What stands beside each character in text, and which two make a word: tables for noise without likeness.

Counted once from text and jieba's dictionary; a training reads the arrays with numpy alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.files import DAMAGED
from nmspeller.text.vocabulary import Vocabulary

FILE = "neighbours.npz"
_KEPT = 32  # neighbours of each character
_CHUNK = 4_000_000  # characters that are counted at a time


@dataclass(frozen=True)
class Neighbours:
    """V is the size of the vocabulary, K the neighbours kept of each character; Hanzi alone are counted.

    after, after_cumulative: the most frequent successors and their cumulative shares, (V, K).
    before, before_cumulative: the same for predecessors.
    cumulative: the cumulative frequency of all ids, (V,); ids that are no Hanzi add nothing.
    word_keys: words of two characters as first * V + second, sorted, (words,).
    alone: the share of a character's occurrences in which it is a word of its own, (V,).
    """

    after: NDArray[np.uint16]
    after_cumulative: NDArray[np.float32]
    before: NDArray[np.uint16]
    before_cumulative: NDArray[np.float32]
    cumulative: NDArray[np.float64]
    word_keys: NDArray[np.int32]
    alone: NDArray[np.float32]

    def begin_words(self, ids: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Where a word of two characters begins: (characters,) → (characters - 1,)."""
        keys = ids[:-1].astype(np.int64) * len(self.alone) + ids[1:]
        found = np.minimum(np.searchsorted(self.word_keys, keys), len(self.word_keys) - 1)
        return np.asarray(self.word_keys[found] == keys)

    def draw(self, random: np.random.Generator) -> int:
        """Any Hanzi, by frequency."""
        return int(np.searchsorted(self.cumulative, random.random() * self.cumulative[-1], side="right"))

    def draw_after(self, number: int, random: np.random.Generator) -> int:
        """A frequent successor of a character; any Hanzi where none was counted."""
        return self._draw(self.after[number], self.after_cumulative[number], random)

    def draw_before(self, number: int, random: np.random.Generator) -> int:
        """A frequent predecessor of a character; any Hanzi where none was counted."""
        return self._draw(self.before[number], self.before_cumulative[number], random)

    def _draw(
        self, kept: NDArray[np.uint16], cumulative: NDArray[np.float32], random: np.random.Generator
    ) -> int:
        if not cumulative[-1]:
            return self.draw(random)
        return int(kept[min(int(np.searchsorted(cumulative, random.random())), len(kept) - 1)])

    def save(self, path: Path) -> None:
        """Write what `load` reads."""
        np.savez_compressed(path, **vars(self))

    @classmethod
    def load(cls, path: Path) -> "Neighbours":
        """Read the tables.

        Raises:
            InputError: there are none, or they are damaged.
        """
        try:
            with np.load(path, allow_pickle=False) as stored:
                return cls(**{name: stored[name] for name in stored.files})
        except DAMAGED as error:
            raise InputError(
                f"{path} holds no table of neighbours ({error}); make it with `nmspeller lab data prepare`."
            ) from error


def count_neighbours(
    text: NDArray[np.uint16], vocabulary: Vocabulary, words: Iterable[tuple[str, int]]
) -> Neighbours:
    """The tables of a text (characters,), with words and how often they occur (`noise_fitting`)."""
    size, hanzi = len(vocabulary), vocabulary.is_hanzi()
    counts = np.zeros(size * size, dtype=np.int32)
    for first in range(0, len(text) - 1, _CHUNK):
        part = text[first : first + _CHUNK + 1].astype(np.int64)
        both = hanzi[part[:-1]] & hanzi[part[1:]]
        keys, times = np.unique(part[:-1][both] * size + part[1:][both], return_counts=True)
        counts[keys] += times.astype(np.int32)
    square = counts.reshape(size, size)
    frequency = np.bincount(text, minlength=size) * hanzi
    keys, alone = _words(words, vocabulary)
    after, before = _most_frequent(square), _most_frequent(square.T)
    return Neighbours(*after, *before, np.cumsum(frequency).astype(np.float64), keys, alone)


def _most_frequent(counts: NDArray[np.int32]) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
    """The columns with the largest counts in each row, and their cumulative shares; 0 without counts."""
    kept = min(_KEPT, counts.shape[1])
    best = np.empty((len(counts), kept), np.uint16)
    cumulative = np.zeros((len(counts), kept), np.float32)
    for number, row in enumerate(counts):
        chosen = np.argpartition(row, -kept)[-kept:]
        chosen = chosen[np.argsort(-row[chosen], kind="stable")]
        best[number] = chosen
        if total := int(row[chosen].sum()):
            cumulative[number] = np.cumsum(row[chosen]) / total
    return best, cumulative


def _words(
    words: Iterable[tuple[str, int]], vocabulary: Vocabulary
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The keys of the words of two characters, sorted, and how often each id is a word of its own, (V,)."""
    size = len(vocabulary)
    keys, single, total = set[int](), np.zeros(size), np.zeros(size)
    for word, times in words:
        ids = vocabulary.encode(word)
        if vocabulary.unk in ids:
            continue
        np.add.at(total, ids, times)
        if len(ids) == 1:
            single[ids[0]] += times
        elif len(ids) == 2:
            keys.add(int(ids[0]) * size + int(ids[1]))
    return np.array(sorted(keys), np.int32), (single / np.maximum(total, 1)).astype(np.float32)
