"""Features of each character of the vocabulary, as arrays; no torch."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.files import DAMAGED
from nmspeller.lab.data.prepared import write_arrays

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TONES = "12345"
NO_SOUND = 1 + len(TONES) + len(LETTERS)
SYMBOLS = 1 + NO_SOUND
"""0 is padding; then tones, letters, and one symbol for tokens without a sound."""
LONGEST_SPELLING = 8
"""A syllable is at most six letters and a tone; ReaLiSe's arrays are this wide."""


def _empty(*shape: int) -> NDArray[np.uint8]:
    return np.zeros(shape, dtype=np.uint8)


@dataclass(frozen=True)
class CharacterTables:
    """One row per id of a vocabulary; tables that a model does not use are empty.

    letters: (vocabulary, 8) uint8, tone and letters of the pinyin, then zeros; or `NO_SOUND`.
    bitmaps: (vocabulary, 3, 32, 32) uint8 of 0 and 1, zero for tokens without a glyph.
    syllables: (vocabulary,) int32, an id per toneless syllable; 0 for tokens without a sound.
    sound, shape: (2, edges) int32, pairs of ids that sound or look alike, each pair once.
    """

    letters: NDArray[np.uint8]
    bitmaps: NDArray[np.uint8]
    syllables: NDArray[np.int32]
    sound: NDArray[np.int32]
    shape: NDArray[np.int32]

    @classmethod
    def random(cls, vocabulary: int, seed: int = 0) -> "CharacterTables":
        """Random tables of the right shapes, to test a model without fonts or dictionaries."""
        draw = np.random.default_rng(seed)
        letters = draw.integers(1, NO_SOUND, (vocabulary, LONGEST_SPELLING))
        lengths = draw.integers(2, LONGEST_SPELLING, vocabulary)
        letters[np.arange(LONGEST_SPELLING)[None] >= lengths[:, None]] = 0
        edges = [np.stack([np.arange(5, vocabulary - 1), np.arange(6, vocabulary)]) for _ in range(2)]
        return cls(
            letters=letters.astype(np.uint8),
            bitmaps=draw.integers(0, 2, (vocabulary, 3, 32, 32), dtype=np.uint8),
            syllables=draw.integers(0, 50, vocabulary).astype(np.int32),
            sound=edges[0].astype(np.int32),
            shape=edges[1].astype(np.int32)[:, ::2],
        )

    @classmethod
    def from_arrays(cls, **arrays: NDArray[Any]) -> "CharacterTables":
        """From the given arrays; the others are empty."""
        known = [entry.name for entry in fields(cls)]
        return cls(**{name: arrays.get(name, _empty(0)) for name in known})

    def check(self, vocabulary: int, names: Sequence[str]) -> None:
        """Check that the named tables exist and fit a vocabulary of this size.

        Raises:
            InputError: they are not.
        """
        for name in names:
            table = getattr(self, name)
            edges = name in ("sound", "shape")
            fits = (
                table.ndim == 2 and table.max(initial=0) < vocabulary if edges else len(table) == vocabulary
            )
            if not table.size or not fits:
                raise InputError(
                    f"the character table {name!r} does not fit a vocabulary of {vocabulary} tokens."
                )

    def only(self, names: Sequence[str]) -> "CharacterTables":
        """Without the tables that are not named."""
        dropped: dict[str, Any] = {e.name: _empty(0) for e in fields(self) if e.name not in names}
        return replace(self, **dropped)

    def save(self, path: str | Path) -> None:
        """Write one compressed npz."""
        write_arrays(Path(path), {entry.name: getattr(self, entry.name) for entry in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> "CharacterTables":
        """Read what `save` wrote.

        Raises:
            InputError: not such a file.
        """
        try:
            with np.load(path) as stored:
                return cls(**{entry.name: stored[entry.name] for entry in fields(cls)})
        except DAMAGED as error:
            raise InputError(f"{path} is not a file of character tables ({error}); write it again.") from None
