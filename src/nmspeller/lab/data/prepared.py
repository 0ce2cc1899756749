"""A prepared folder: all that training needs, as arrays, with numpy alone."""

import hashlib
import json
import lzma
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.files import DAMAGED, write_whole
from nmspeller.lab.data import neighbours
from nmspeller.lab.data.corpus import LINE_END
from nmspeller.lab.data.neighbours import Neighbours
from nmspeller.lab.data.noise import NoiseModel
from nmspeller.lab.data.pairs import Pair
from nmspeller.text.vocabulary import Vocabulary

Ids = NDArray[np.uint16]


@dataclass(frozen=True)
class PairArrays:
    """Pairs as flat ids: pair i is `source[starts[i]:starts[i + 1]]` and the same slice of `target`.

    tags: where sentences of different length are aligned, a byte for each source character and one for the
    end of each pair, (characters + pairs,); see `alignment`. None: nothing is missing or extra.
    """

    source: Ids
    target: Ids
    starts: NDArray[np.int64]
    tags: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    def lengths(self) -> NDArray[np.int64]:
        """Characters of each pair, (pairs,)."""
        return np.diff(self.starts)

    def __getitem__(self, index: int) -> tuple[Ids, Ids]:
        here = slice(self.starts[index], self.starts[index + 1])
        return self.source[here], self.target[here]

    def tags_of(self, index: int) -> NDArray[np.uint8]:
        """The tags of one pair, (characters + 1,)."""
        first, last = self.starts[index] + index, self.starts[index + 1] + index + 1
        return np.zeros(last - first, np.uint8) if self.tags is None else self.tags[first:last]


class Prepared:
    """A folder that `nmspeller lab data prepare` wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
            prepared_with, _ = (self.manifest[name] for name in ("vocabulary", "sources"))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{folder} holds no prepared data ({error}); make it with `nmspeller lab data prepare`."
            ) from error
        self.vocabulary = Vocabulary.from_file(folder / "vocab.txt")
        if hashlib.sha256((folder / "vocab.txt").read_bytes()).hexdigest() != prepared_with:
            # The ids of all arrays are line numbers of the file that it was.
            raise InputError(
                f"{folder}/vocab.txt is not the one the data was prepared with; prepare it again."
            )

    @property
    def absent(self) -> frozenset[str]:
        """The sets, and `corpus`, that the data folder did not have."""
        return frozenset(self.manifest.get("absent", ()))

    @cached_property
    def noise(self) -> NoiseModel:
        return NoiseModel.load(self.folder / "noise.npz")

    @cached_property
    def neighbours(self) -> Neighbours:
        return Neighbours.load(self.folder / neighbours.FILE)

    def pairs(self, name: str) -> PairArrays:
        """The pairs of one set, e.g. "sighan15_train"."""
        path = self.folder / "pairs" / f"{name}.npz"
        if not path.exists():
            known = ", ".join(sorted(file.stem for file in path.parent.glob("*.npz")))
            raise InputError(f"no prepared pairs {name!r} in {self.folder}; there are {known}.")
        try:
            with np.load(path, allow_pickle=False) as stored:
                return PairArrays(**{name: stored[name] for name in stored.files})
        except DAMAGED as error:
            raise _damaged(path) from error

    def pair_texts(self, name: str) -> list[Pair]:
        """The pairs of one set as text; a character outside the vocabulary is a replacement character."""
        tokens = [token if len(token) == 1 else "\ufffd" for token in self.vocabulary.tokens]
        arrays = self.pairs(name)
        return [
            Pair(*("".join(tokens[number] for number in side) for side in arrays[index]))
            for index in range(len(arrays))
        ]

    def add_pairs(self, name: str, pairs: PairArrays) -> None:
        """Write a set of pairs, whole or not at all."""
        arrays = {name: array for name, array in vars(pairs).items() if array is not None}
        write_arrays(self.folder / "pairs" / f"{name}.npz", arrays)

    def corpus(self, part: str = "corpus") -> Ids:
        """All text of a part ("corpus" or "heldout") as ids, each paragraph closed by LINE_END."""
        return np.concatenate(list(self._read_parts(part)))

    def _read_parts(self, part: str) -> Iterator[Ids]:
        # An unpacked copy, where somebody made one, loads at once.
        files = sorted(self.folder.glob(f"{part}-*.u16")) or sorted(self.folder.glob(f"{part}-*.u16.xz"))
        if not files:
            raise InputError(
                f"no {part} text in {self.folder}; prepare it from a data folder with a corpus:"
                " `nmspeller lab data prepare`."
            )
        for file in files:
            stored = file.read_bytes()
            try:
                content = lzma.decompress(stored) if file.suffix == ".xz" else stored
                yield np.frombuffer(content, dtype=np.uint16)
            except (lzma.LZMAError, ValueError) as error:
                raise _damaged(file) from error


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays as an npz file, whole or not at all."""
    content = BytesIO()
    np.savez_compressed(content, **dict(arrays))  # type: ignore[arg-type]
    write_whole(path, content.getvalue())


def _damaged(path: Path) -> InputError:
    return InputError(f"{path} is damaged; make it again with `nmspeller lab data prepare`.")


def check_vocabulary(folder: Path, vocabulary: Vocabulary) -> None:
    """Make sure that a model's ids mean what they mean in the data.

    Raises:
        InputError: they do not.
    """
    path = folder / "vocab.txt"
    if Vocabulary.from_file(path).tokens != vocabulary.tokens:
        raise InputError(
            f"{folder} has another vocabulary than the data; prepare that with `data prepare --vocab {path}`."
        )


def sentence_windows(
    ids: Ids, vocabulary: Vocabulary, random: np.random.Generator, *, limit: int, join: float, least: int = 6
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut ids at sentence ends into windows of `least` to `limit` characters: starts, stops, each (windows,).

    join: the probability that a sentence is joined to the next of its paragraph, so that a speller learns
    from single sentences and from longer contexts alike. What is longer than `limit` is left out.
    """
    member = np.zeros(len(vocabulary), dtype=np.int8)  # 1: ends a sentence, 2: may close after an end
    for value, marks in ((1, "。！？；…!?"), (2, "”’」』）")):
        for mark in marks:
            if (number := vocabulary.id(mark)) != vocabulary.unk:
                member[number] = value
    kind = member[ids]
    ends = kind == 1
    ends[1:] |= (kind[1:] == 2) & (kind[:-1] == 1)
    # A run of marks, or a mark before its closing quote, ends once, at its last character.
    ends[:-1] &= kind[1:] == 0
    ends &= random.random(len(ids), dtype=np.float32) >= join
    line_ends = ids == LINE_END
    cuts = np.flatnonzero(ends | line_ends) + 1
    starts = np.concatenate(([0], cuts[:-1]))
    stops = cuts - line_ends[cuts - 1]
    fits = (stops - starts >= least) & (stops - starts <= limit)
    return starts[fits], stops[fits]
