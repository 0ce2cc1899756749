"""The pairs that a speller learns from, set by set, and the part of each that no training sees."""

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nmspeller.errors import InputError
from nmspeller.lab.data.datasets import DataSet, DataTable, Groups
from nmspeller.lab.data.leak_filter import LeakFilter
from nmspeller.lab.data.pairs import Pair, read_pairs
from nmspeller.lab.data.sentences import read_sentences
from nmspeller.lab.data.subsampling import sample_down

# Sentences of our own that look wrong and are right: names, slang, dialect, classical, code, numerals.
PLAIN = Path(__file__).with_name("clean_sentences")
_PLAIN_DEV = 10


class Split(NamedTuple):
    """What is learnt from and what is measured on, and how many lines of the files became neither."""

    training: list[Pair]
    dev: list[Pair]
    left_out: dict[str, int]


def read_sets(table: DataTable, leaks: LeakFilter) -> dict[str, Split]:
    """Every set that is there, those of clean sentences (`native_clean`, …, `plain`) with equal sides.

    No sentence of any dev set is learnt from in another set: the same essays are in several.
    """
    splits: dict[str, Split] = {}
    for name, one in table.training().items():
        splits[name] = _read_set(table, one, leaks)
        clean = [table.folder / file for file in one.clean_files if (table.folder / file).is_file()]
        if clean:
            splits[f"{name}_clean"] = _read_clean(clean, one.clean_dev or one.dev, leaks)
    if own := sorted(PLAIN.glob("*.txt")):
        splits["plain"] = _read_clean(own, _PLAIN_DEV, leaks)
    measured = {side for split in splits.values() for pair in split.dev for side in pair}
    for name, (training, dev, left_out) in splits.items():
        kept = [pair for pair in training if measured.isdisjoint(pair)]
        splits[name] = Split(kept, dev, {**left_out, "in a dev set": len(training) - len(kept)})
    return splits


def is_dev(key: str, one_in: int) -> bool:
    """Whether what has this key is kept for a dev set."""
    return zlib.crc32(key.encode("utf-8", "surrogatepass")) % one_in == 0


def without_leaks(pairs: Sequence[Pair], leaks: LeakFilter) -> list[Pair]:
    """The pairs of which neither side holds anything of the evaluation data."""
    return [pair for pair in pairs if not leaks.leaks(pair.source) and not leaks.leaks(pair.target)]


def _read_set(table: DataTable, one: DataSet, leaks: LeakFilter) -> Split:
    files = [read_pairs(path, lenient=True) for path in table.paths(one)]
    pairs = [pair for file in files for pair in file]
    # Where nothing says what belongs together, a pair's right side decides: no sentence is on both sides.
    keys = {pair: pair.target for pair in pairs}
    if one.groups and (table.folder / one.groups.file).is_file():
        keys = dict(zip(pairs, _column(table.folder, one.groups, len(pairs)), strict=True))
    decidable = sample_down(pairs, one.keep)
    kept = without_leaks(decidable, leaks)
    return _split(
        kept,
        [is_dev(keys[pair], one.dev) for pair in kept],
        {
            "left out as leaks": len(decidable) - len(kept),
            "sampled down": len(pairs) - len(decidable),
            "bad lines": sum(len(file.skipped) for file in files),
        },
    )


def _read_clean(files: Sequence[Path], one_in: int, leaks: LeakFilter) -> Split:
    sentences = list(dict.fromkeys(sentence for file in files for sentence in read_sentences(file)))
    kept = without_leaks([Pair(sentence, sentence) for sentence in sentences], leaks)
    dev = [is_dev(pair.target, one_in) for pair in kept]
    return _split(kept, dev, {"left out as leaks": len(sentences) - len(kept)})


def _split(pairs: Sequence[Pair], dev: Sequence[bool], left_out: dict[str, int]) -> Split:
    return Split(
        [pair for pair, is_kept in zip(pairs, dev, strict=True) if not is_kept],
        [pair for pair, is_kept in zip(pairs, dev, strict=True) if is_kept],
        left_out,
    )


def _column(folder: Path, groups: Groups, lines: int) -> list[str]:
    path = folder / groups.file
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    if len(rows) != lines:
        raise InputError(f"{path} has {len(rows)} lines, but its pairs are {lines}; copy both again.")
    if any(len(row) < groups.column for row in rows):
        raise InputError(f"{path} has lines without a column {groups.column}; copy it again.")
    return [row[groups.column - 1] for row in rows]
