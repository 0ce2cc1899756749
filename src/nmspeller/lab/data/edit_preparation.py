"""What training with tags needs beside pairs of equal length: aligned pairs, odd text, neighbours."""

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.lab.data import edit_sets, neighbours, noise_fitting, odd_text
from nmspeller.lab.data.edit_sets import EditPair, EditSplit
from nmspeller.lab.data.leak_filter import LeakFilter
from nmspeller.text.vocabulary import Vocabulary

_SLANG = 36_000  # as many as sentences with invented names
_LISTS = 8_000
_NEIGHBOURS_IN = 30_000_000  # characters of text in which neighbours are counted


def write_edit_sets(edits: Mapping[str, EditSplit], vocabulary: Vocabulary, out: Path) -> dict[str, int]:
    """Write the training parts as aligned arrays and the dev parts as text; returns the training sizes."""
    for name, split in edits.items():
        _write(out, name, split.training, vocabulary)
    edit_sets.write_dev(edits, out)
    return {name: len(split.training) for name, split in edits.items()}


def write_odd_text(vocabulary: Vocabulary, leaks: LeakFilter, out: Path, *, seed: int = 0) -> dict[str, int]:
    """Write the sets `slang` and `lists`; returns their sizes."""
    from nmspeller.knowledge import confusion

    similar = {each: list(others) for each, others in confusion.own_set(candidates=20).items()}
    made = {
        "slang": islice(odd_text.slang_sentences(seed), _SLANG),
        "lists": islice(odd_text.lists_and_play(similar, seed), _LISTS),
    }
    return {name: _write(out, name, _clean(each, leaks), vocabulary) for name, each in made.items()}


def write_neighbours(text: NDArray[np.uint16], vocabulary: Vocabulary, out: Path) -> None:
    """Write the tables of neighbours, counted in the beginning of a text."""
    tables = neighbours.count_neighbours(text[:_NEIGHBOURS_IN], vocabulary, noise_fitting.jieba_words(None))
    tables.save(out / neighbours.FILE)


def _clean(sentences: Iterable[str], leaks: LeakFilter) -> list[EditPair]:
    return [EditPair(each, each, "clean") for each in dict.fromkeys(sentences) if not leaks.leaks(each)]


def _write(out: Path, name: str, pairs: list[EditPair], vocabulary: Vocabulary) -> int:
    arrays = edit_sets.edit_arrays(pairs, vocabulary)
    np.savez_compressed(out / "pairs" / f"{name}.npz", **vars(arrays))
    return len(pairs)
