"""Write a prepared folder: arrays and a manifest, all that training needs beside torch and numpy."""

import hashlib
import json
import lzma
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.lab.data import edit_preparation, edit_sets
from nmspeller.lab.data.corpus import corpus_files, encode_lines, is_held_out, read_lines
from nmspeller.lab.data.datasets import DataTable, describe_missing
from nmspeller.lab.data.invented_names import sentences_with_names
from nmspeller.lab.data.leak_filter import LeakFilter, evaluation_sentences
from nmspeller.lab.data.noise_profiles import character_counts, fit_noise, read_training
from nmspeller.lab.data.pairs import Pair
from nmspeller.lab.data.prepared import write_arrays
from nmspeller.lab.data.splits import read_sets
from nmspeller.text.vocabulary import Vocabulary

# Sentences with invented names, of each file of the corpus.
_NAMES = 12_000

Say = Callable[[str], None]


def prepare(
    data: Path, vocabulary_path: Path, out: Path, *, corpus: bool = True, say: Say = lambda _: None
) -> None:
    """Prepare what is in the data folder; `corpus=False` leaves the text out, for a quick look.

    Raises:
        InputError: there is nothing to learn from, or a file is damaged.
    """
    vocabulary = Vocabulary.from_file(vocabulary_path)
    if len(vocabulary) > 1 << 16:
        raise InputError(f"{vocabulary_path} has more than 65,536 tokens, which prepared arrays cannot hold.")
    table = DataTable.read(data)
    texts = _text_files(table) if corpus else []
    if not table.training() and not texts:
        raise InputError(
            f"{data} has nothing to learn from; `nmspeller lab data sets` lists what belongs there."
        )
    for line in describe_missing(table):
        say(line)
    leaks = LeakFilter(evaluation_sentences(table))
    characters_known = vocabulary_path.read_bytes()
    _clear(out)
    (out / "pairs").mkdir(parents=True, exist_ok=True)
    write_whole(out / "vocab.txt", characters_known)

    splits, edits = edit_sets.keep_apart(read_sets(table, leaks), edit_sets.read_edit_sets(table, leaks))
    counted: dict[str, dict[str, int]] = {}
    for name, split in splits.items():
        for label, some in ((name, split.training), (f"{name}_dev", split.dev)):
            write_arrays(out / "pairs" / f"{label}.npz", pair_arrays(some, vocabulary))
        counted[name] = {"train": len(split.training), "dev": len(split.dev), **split.left_out}
        say(f"{name}: {', '.join(f'{count:,} {what}' for what, count in counted[name].items())}")
    written = edit_preparation.write_edit_sets(edits, vocabulary, out)
    written |= edit_preparation.write_odd_text(vocabulary, leaks, out)
    counted |= {name: {"train": count} for name, count in written.items()}

    characters: dict[str, dict[str, int]] = {}
    frequencies = np.zeros(len(vocabulary), dtype=np.int64)
    named: list[Pair] = []
    for number, file in enumerate(texts):
        invented = sentences_with_names(_lines(file, leaks, held_out=False), seed=number)
        named += [Pair(sentence, sentence) for sentence in islice(invented, _NAMES)]
        held = encode_lines(_lines(file, leaks, held_out=True), vocabulary.encode)
        learnt = encode_lines(_lines(file, leaks, held_out=False), vocabulary.encode)
        for part, ids in (("corpus", learnt), ("heldout", held)):
            write_whole(out / f"{part}-{number}.u16.xz", lzma.compress(ids.tobytes(), preset=6))
        characters[file.name] = {"train": len(learnt), "heldout": len(held)}
        frequencies += np.bincount(learnt, minlength=len(vocabulary))
        if not number:
            edit_preparation.write_neighbours(learnt, vocabulary, out)
        say(f"{file.name}: {len(learnt):,} characters, {len(held):,} held out")
    training = read_training(table, splits)
    if texts:
        write_arrays(out / "pairs" / "names.npz", pair_arrays(named, vocabulary))
        counted["names"] = {"train": len(named)}
    else:
        frequencies += character_counts(training, vocabulary)
    write_arrays(out / "noise.npz", fit_noise(table, training, vocabulary, frequencies).arrays())
    learnt_from = [*_learnt_from(table), *texts]
    manifest = {
        "vocabulary": hashlib.sha256(characters_known).hexdigest(),
        "sources": {path.relative_to(data).as_posix(): _digest(path) for path in learnt_from},
        "pairs": counted,
        "characters": characters,
        "evaluation_sets": list(table.measured()),
        "absent": _absent(table, {*counted, *(["corpus"] if texts else [])}),
    }
    write_whole(out / "manifest.json", (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode())


def _text_files(table: DataTable) -> list[Path]:
    places = [place for one in table.training("text").values() for place in table.paths(one)]
    return [file for place in places for file in corpus_files(place)]


def _absent(table: DataTable, written: set[str]) -> list[str]:
    """What a recipe may name though this data folder has nothing of it."""
    training = [name for name, one in table.items() if one.role == "train"]
    known = [*training, *(f"{name}_clean" for name in training), "names"]
    return [name for name in known if name not in written]


def _learnt_from(table: DataTable) -> Iterator[Path]:
    for one in (
        *table.training().values(),
        *table.training("edits").values(),
        *table.training("confusions").values(),
    ):
        yield from table.paths(one)


def _clear(out: Path) -> None:
    """Remove what was prepared before: another vocabulary or corpus would go on living in a file left over.

    The manifest goes first and is written last, so that a folder with one is complete.
    """
    for pattern in (
        "manifest.json",
        "noise.npz",
        "neighbours.npz",
        "edits_dev.json",
        "characters.npz",
        "corpus-*.u16*",
        "heldout-*.u16*",
        "pairs/*.npz",
    ):
        for path in out.glob(pattern):
            path.unlink()


def pair_arrays(pairs: Sequence[Pair], vocabulary: Vocabulary) -> dict[str, NDArray[np.generic]]:
    """Pairs as the arrays of `PairArrays`."""
    lengths = np.array([len(pair.source) for pair in pairs], dtype=np.int64)
    return {
        "source": vocabulary.encode("".join(pair.source for pair in pairs)).astype(np.uint16),
        "target": vocabulary.encode("".join(pair.target for pair in pairs)).astype(np.uint16),
        "starts": np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
    }


def _lines(file: Path, leaks: LeakFilter, *, held_out: bool) -> Iterator[str]:
    return (
        line
        for number, line in enumerate(read_lines(file))
        if is_held_out(number) == held_out and not leaks.leaks(line)
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
