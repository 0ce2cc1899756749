"""The noise that makes training pairs: right sentences in, sentences as people misspell them out.

A noise model is a few profiles, each a way of going wrong (a learner's pen, a scanner, an input method). A
profile says where errors fall, P(place), and what is written instead, P(wrong | right); both are estimated
from real pairs and backed off to similarity of sound and shape. An input method also replaces whole words by
words of the same sound.

Everything here is numpy on arrays of character ids, so that it runs at millions of characters a second and on
a machine that has nothing else; `noise_fitting` builds the tables.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.files import DAMAGED

Rows = NDArray[np.int32]


@dataclass(frozen=True)
class NoiseModel:
    """Tables of all profiles; V is the size of the vocabulary, K the candidates kept for a character.

    names: the profiles' names, (profiles,).
    place: how readily each right character is misspelt, (profiles, V); 0 = never.
    wrong: what is written instead, (profiles, V, K).
    wrong_cumulative: the candidates' cumulative probabilities, (profiles, V, K).
    word_share: share of errors that replace a two-character word, where one stands there, (profiles,).
    adjacent: probability that the character after an error is wrong too, (profiles,).
    word_keys: two-character words as first * V + second, sorted, (words,).
    word_wrong, word_cumulative: words of the same sound and their cumulative probabilities, (words, M).
    """

    names: tuple[str, ...]
    place: NDArray[np.float32]
    wrong: NDArray[np.uint16]
    wrong_cumulative: NDArray[np.float32]
    word_share: NDArray[np.float32]
    adjacent: NDArray[np.float32]
    word_keys: NDArray[np.int32]
    word_wrong: NDArray[np.int32]
    word_cumulative: NDArray[np.float32]

    def corrupt(
        self,
        right: Rows,
        profile: NDArray[np.integer],
        errors: NDArray[np.floating],
        random: np.random.Generator,
    ) -> Rows:
        """Misspell rows of ids.

        right: (rows, length); ids that no profile misspells (special tokens, punctuation) are left alone.
        profile: which profile each row follows, (rows,).
        errors: how many errors each row is expected to get, (rows,).
        Returns the misspelt rows, (rows, length), a new array.
        """
        places = self.place[profile[:, None], right]
        total = np.maximum(places.sum(axis=1, keepdims=True), 1e-9)
        hit = random.random(right.shape, dtype=np.float32) < np.minimum(
            places * (errors[:, None] / total), 0.5
        )
        follow = random.random(right.shape, dtype=np.float32) < self.adjacent[profile][:, None]
        hit[:, 1:] |= hit[:, :-1] & follow[:, 1:] & (places[:, 1:] > 0)

        row, column = np.nonzero(hit)
        way = profile[row]
        wrong: Rows = right.copy()
        wrong[row, column] = self._draw(
            self.wrong[way, right[row, column]], self.wrong_cumulative[way, right[row, column]], random
        )

        whole = (random.random(len(row), dtype=np.float32) < self.word_share[way]) & (
            column + 1 < right.shape[1]
        )
        self._replace_words(right, wrong, row[whole], column[whole], random)
        return wrong

    def _replace_words(
        self,
        right: Rows,
        wrong: Rows,
        row: NDArray[np.intp],
        column: NDArray[np.intp],
        random: np.random.Generator,
    ) -> None:
        """Write a word of the same sound over each two-character word that starts at (row, column)."""
        size = self.place.shape[1]
        keys = right[row, column] * size + right[row, column + 1]
        found = np.minimum(np.searchsorted(self.word_keys, keys), len(self.word_keys) - 1)
        known = self.word_keys[found] == keys
        row, column, found = row[known], column[known], found[known]
        words = self._draw(self.word_wrong[found], self.word_cumulative[found], random)
        wrong[row, column] = words // size
        wrong[row, column + 1] = words % size

    @staticmethod
    def _draw(
        candidates: NDArray[np.integer], cumulative: NDArray[np.float32], random: np.random.Generator
    ) -> NDArray[np.int32]:
        """One candidate of each row, (rows, K) and their cumulative probabilities (rows, K) to (rows,)."""
        picks = (cumulative < random.random((len(cumulative), 1), dtype=np.float32)).sum(axis=1)
        places = np.minimum(picks, candidates.shape[1] - 1)
        return np.asarray(candidates[np.arange(len(candidates)), places], dtype=np.int32)

    def profile_index(self, name: str) -> int:
        """The number of a profile; InputError names the ones there are."""
        if name not in self.names:
            raise InputError(f"no noise profile {name!r}; choose among {', '.join(self.names)}.")
        return self.names.index(name)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything as named arrays, to be saved with `numpy.savez`."""
        return {
            **{key: value for key, value in vars(self).items() if key != "names"},
            "names": np.array(self.names),
        }

    @classmethod
    def load(cls, path: Path) -> "NoiseModel":
        """Read what `numpy.savez_compressed(path, **model.arrays())` wrote."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                arrays = {key: stored[key] for key in stored.files}
            names = tuple(str(name) for name in arrays["names"])
            return cls(**{**arrays, "names": names})
        except DAMAGED as error:
            raise InputError(
                f"{path} is not a noise model ({error}); make one with `nmspeller lab data prepare`."
            ) from error
