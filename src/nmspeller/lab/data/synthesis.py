"""An endless stream of synthetic pairs from clean text: sentences with errors, and the same without."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.data.corpus import LINE_END, corpus_files, is_held_out, read_lines
from nmspeller.lab.data.leak_filter import LeakFilter
from nmspeller.lab.data.noise import NoiseModel
from nmspeller.lab.data.pairs import Pair
from nmspeller.lab.data.prepared import sentence_windows
from nmspeller.text.vocabulary import Vocabulary, code_points

WANG_ERRORS = 1.41  # wrong characters in a sentence of Wang271K, each of which has at least one
CHUNK_LINES = 4_000
TRIALS = 16


@dataclass
class PairMaker:
    """Makes pairs like Wang271K's, whose errors come from character and speech recognition.

    profiles: the share of sentences that follow each noise profile.
    errors: mean number of wrong characters of a sentence with errors.
    clean: share of sentences left without an error.
    limit, join: see `sentence_windows`.
    """

    noise: NoiseModel
    vocabulary: Vocabulary
    leaks: LeakFilter
    profiles: Mapping[str, float] = field(
        default_factory=lambda: {"learner": 0.4, "scanner": 0.4, "input_method": 0.2}
    )
    errors: float = WANG_ERRORS
    clean: float = 0.0
    limit: int = 126
    join: float = 0.4

    def pairs(self, corpus: Path, seed: int) -> Iterator[Pair]:
        """Pairs from a corpus, repeatedly, with other errors each time; the same for the same seed.

        Raises:
            InputError: the corpus cannot be read, or not one sentence of it can be used.
        """
        expected: float | None = None
        for turn in count():
            made = 0
            for number, text in enumerate(_chunks(corpus)):
                random = np.random.default_rng((seed, turn, number))
                starts, right, lengths = self._rows(text, random)
                if not len(starts):
                    continue
                if expected is None:
                    expected = self._expected(right)
                wrong = self._misspell(right, expected, random)
                for pair in self._texts(text, starts, right, wrong, lengths):
                    made += 1
                    yield pair
            if not made:
                raise InputError(
                    f"no sentence of {corpus} can be used; give more text, one paragraph a line."
                )

    def _rows(
        self, text: str, random: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """The sentences of a chunk: starts (rows,), ids padded with [PAD] (rows, width), lengths (rows,)."""
        ids = self.vocabulary.encode(text).astype(np.uint16)
        ids[code_points(text) == ord("\n")] = LINE_END
        starts, stops = sentence_windows(ids, self.vocabulary, random, limit=self.limit, join=self.join)
        lengths = stops - starts
        columns = np.arange(int(lengths.max(initial=0)))
        rows = ids[np.minimum(starts[:, None] + columns, len(ids) - 1)].astype(np.int32)
        return starts, np.where(columns < lengths[:, None], rows, self.vocabulary.pad), lengths

    def _misspell(
        self, right: NDArray[np.int32], expected: float, random: np.random.Generator
    ) -> NDArray[np.int32]:
        """Rows with at least one error each, except the clean share and rows that cannot be misspelt."""
        ways = np.array([self.noise.profile_index(name) for name in self.profiles])
        shares = np.array(list(self.profiles.values()), dtype=np.float64)
        profile = random.choice(ways, size=len(right), p=shares / shares.sum())
        wrong: NDArray[np.int32] = right.copy()
        left = np.flatnonzero(random.random(len(right)) >= self.clean)
        for _ in range(TRIALS):
            errors = np.full(len(left), expected)
            wrong[left] = self.noise.corrupt(right[left], profile[left], errors, random)
            left = left[(wrong[left] == right[left]).all(axis=1)]
        wrong[left] = -1  # marks rows that no trial could misspell
        return wrong

    def _expected(self, right: NDArray[np.int32]) -> float:
        """The number of errors to request so that sentences with errors have `self.errors` on average.

        Sentences without an error are tried again, and errors occur together; so it is found by bisection.
        """
        sample, low, high = right[:2_000], 0.01, 4 * self.errors
        for _ in range(12):
            middle = (low + high) / 2
            wrong = self._misspell(sample, middle, np.random.default_rng(0))
            found = ((wrong != sample) & (wrong >= 0)).sum(axis=1)
            mean = found.sum() / max((found > 0).sum(), 1)
            low, high = (low, middle) if mean > self.errors else (middle, high)
        return (low + high) / 2

    def _texts(
        self,
        text: str,
        starts: NDArray[np.int64],
        right: NDArray[np.int32],
        wrong: NDArray[np.int32],
        lengths: NDArray[np.int64],
    ) -> Iterator[Pair]:
        """Rows as pairs of text; characters outside the vocabulary stay unchanged."""
        tokens = self.vocabulary.tokens
        changed = wrong != right
        for number, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
            target = text[start : start + length]
            if wrong[number, 0] < 0 or "\t" in target or "\r" in target or self.leaks.leaks(target):
                continue
            characters = list(target)
            for place in np.flatnonzero(changed[number]):
                characters[place] = tokens[wrong[number, place]]
            source = "".join(characters)
            if not self.leaks.leaks(source):
                yield Pair(source, target)


def _chunks(corpus: Path) -> Iterator[str]:
    """The training text of a corpus, some thousand paragraphs at a time, each closed by a line end."""
    for file in corpus_files(corpus):
        lines = (line for number, line in enumerate(read_lines(file)) if line and not is_held_out(number))
        while chunk := list(islice(lines, CHUNK_LINES)):
            yield "\n".join([*chunk, ""])
