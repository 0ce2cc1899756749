"""The sets of pairs that a speller learns from: where each lies, and which part of it no training sees."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from nmspeller.errors import InputError
from nmspeller.lab.data.leak_filter import LeakFilter
from nmspeller.lab.data.pairs import Pair, read_pairs
from nmspeller.lab.data.sentences import read_sentences
from nmspeller.lab.data.subsampling import sample_down

# Sentences of our own that look wrong and are right: names, slang, dialect, classical, code, numerals.
PLAIN = Path(__file__).with_name("clean_sentences")


@dataclass(frozen=True)
class PairSet:
    """Files of pairs below the data folder that are learnt from as one.

    dev: one pair in so many is kept as its dev set.
    together: a file whose last column says, line by line, what belongs together: all of it is learnt from,
    or none. Otherwise a pair's right side decides, so that no sentence is on both sides.
    """

    files: tuple[str, ...]
    dev: int
    together: str | None = None

    @property
    def clean_files(self) -> tuple[str, ...]:
        """Where sentences of the same files lie in which nothing was found; not every file has some."""
        return tuple(file.removesuffix(".tsv") + ".clean.txt" for file in self.files)


def _pairs(*names: str) -> tuple[str, ...]:
    return tuple(f"pairs/{name}.tsv" for name in names)


TRAINING_SETS = {
    "sighan13_train": PairSet(("sighan/simplified/train13.tsv",), 10),
    "sighan14_train": PairSet(("sighan/simplified/train14.tsv",), 10),
    "sighan15_train": PairSet(("sighan/simplified/train15.tsv",), 10),
    "wang": PairSet(("wang271k/slices_union.tsv",), 20),
    "ecspell_law": PairSet(("ecspell/law_train.tsv",), 10),
    "ecspell_med": PairSet(("ecspell/med_train.tsv",), 10),
    "ecspell_odw": PairSet(("ecspell/odw_train.tsv",), 10),
    "native": PairSet(
        _pairs(
            "midu2022", "nasgec", "cctc", "essays_twoways", "bcmi", "nlpcc2023_spell", "cdconfusor_rw",
            "ctc2021_val", "cefe2023",
        ),
        12,
    ),
    # Projects differ more than sentences: the dev set is of projects that no training sees.
    "revisions": PairSet(_pairs("revisions"), 11, together="pairs/revisions.meta.tsv"),
    "lang8": PairSet(_pairs("lang8_nlpcc2018"), 20),
    "learners": PairSet(
        _pairs(
            "mucgec", "yaclc", "excgec", "viscgec", "cged16_hsk", "cged16_tocfl", "cged14_20",
            "nlpcc2018_test",
        ),
        10,
    ),
    "rules": PairSet(_pairs("languagetool_zh"), 10),
    "hard": PairSet(_pairs("csc_hard_news", "csc_hard_pd", "masc_stage2"), 20),
    "medical": PairSet(_pairs("mcsc_valid"), 16),
    "queries": PairSet(_pairs("qspell250k_test"), 25),
    "ocr": PairSet(_pairs("faspell_ocr"), 10),
    "leftovers": PairSet(
        _pairs("ctc2021_sample", "wang_extra", "pycorrector_evalcorpus", "nacgec_fcgec"), 10
    ),
    "speech": PairSet(_pairs("asr_aishell", "asr_magicdata", "asr_aidatatang", "asr_cv"), 20),
}  # fmt: skip
# Clean sentences come in thousands for some sets: fewer are enough to see what is disturbed.
_CLEAN_DEV = {"queries": 40, "medical": 20}
_PLAIN_DEV = 10


class Split(NamedTuple):
    """What is learnt from and what is measured on, and how many lines of the files became neither."""

    training: list[Pair]
    dev: list[Pair]
    left_out: dict[str, int]


def read_sets(data: Path, leaks: LeakFilter) -> dict[str, Split]:
    """Every set, those of clean sentences (`native_clean`, …, `plain`) with equal sides.

    No sentence of any dev set is learnt from in another set: the same essays are in several.
    """
    splits: dict[str, Split] = {}
    for name, wanted in TRAINING_SETS.items():
        splits[name] = _read_set(data, name, wanted, leaks)
        if clean := [data / file for file in wanted.clean_files if (data / file).is_file()]:
            splits[f"{name}_clean"] = _read_clean(clean, _CLEAN_DEV.get(name, wanted.dev), leaks)
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


def _read_set(data: Path, name: str, wanted: PairSet, leaks: LeakFilter) -> Split:
    files = [read_pairs(data / file, lenient=True) for file in wanted.files]
    pairs = [pair for file in files for pair in file]
    keys = {pair: pair.target for pair in pairs}
    if wanted.together and (data / wanted.together).is_file():
        keys = dict(zip(pairs, _last_column(data / wanted.together, len(pairs)), strict=True))
    decidable = sample_down(name, pairs)
    kept = without_leaks(decidable, leaks)
    return _split(
        kept,
        [is_dev(keys[pair], wanted.dev) for pair in kept],
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


def _last_column(path: Path, lines: int) -> list[str]:
    column = [line.rsplit("\t", 1)[-1] for line in path.read_text("utf-8").splitlines()]
    if len(column) != lines:
        raise InputError(f"{path} has {len(column)} lines, but its pairs are {lines}; copy both again.")
    return column
