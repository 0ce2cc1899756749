"""Write a prepared folder: arrays and a manifest, all that training needs beside torch and numpy."""

import hashlib
import json
import lzma
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.data import noise_fitting
from nmspeller.lab.data.corpus import corpus_files, encode_lines, is_held_out, read_lines
from nmspeller.lab.data.leaks import LeakFilter, evaluation_sentences
from nmspeller.lab.data.noise import NoiseModel
from nmspeller.lab.data.noise_fitting import ProfileRecipe
from nmspeller.lab.data.pairs import Pair, read_pairs
from nmspeller.text.vocabulary import Vocabulary

# Each set of pairs, where it lies in the data folder, and which share of it is kept as its dev set.
TRAINING_SETS = {
    "sighan13_train": ("sighan/simplified/train13.tsv", 10),
    "sighan14_train": ("sighan/simplified/train14.tsv", 10),
    "sighan15_train": ("sighan/simplified/train15.tsv", 10),
    "wang": ("wang271k/slices_union.tsv", 20),
    "ecspell_law": ("ecspell/law_train.tsv", 10),
    "ecspell_med": ("ecspell/med_train.tsv", 10),
    "ecspell_odw": ("ecspell/odw_train.tsv", 10),
}
# Whose errors teach the noise model what.
LEARNERS = ("sighan14_train", "sighan15_train")
WRITERS = ("sighan13_train", "ecspell_law", "ecspell_med", "ecspell_odw")
SCANNERS = ("wang",)

Say = Callable[[str], None]


def is_dev(pair: Pair, one_in: int) -> bool:
    """Whether a pair is kept for its dev set; its right side decides, so no sentence is on both sides."""
    return zlib.crc32(pair.target.encode("utf-8", "surrogatepass")) % one_in == 0


def prepare(
    data: Path, vocabulary_path: Path, out: Path, *, corpus: bool = True, say: Say = lambda _: None
) -> None:
    """Prepare everything below the data folder; `corpus=False` leaves the text out, for a quick look."""
    vocabulary = Vocabulary.from_file(vocabulary_path)
    if len(vocabulary) > 1 << 16:
        raise InputError(f"{vocabulary_path} has more than 65,536 tokens, which prepared arrays cannot hold.")
    leaks = LeakFilter(evaluation_sentences(data))
    characters_known = vocabulary_path.read_bytes()
    _clear(out)
    (out / "pairs").mkdir(parents=True, exist_ok=True)
    (out / "vocab.txt").write_bytes(characters_known)
    sources: dict[str, str] = {}
    counted: dict[str, dict[str, int]] = {}
    characters: dict[str, dict[str, int]] = {}

    training: dict[str, list[Pair]] = {}
    for name, (place, one_in) in TRAINING_SETS.items():
        pairs = read_pairs(data / place, lenient=True)
        kept = without_leaks(pairs, leaks)
        training[name] = [pair for pair in kept if not is_dev(pair, one_in)]
        dev = [pair for pair in kept if is_dev(pair, one_in)]
        for label, some in ((name, training[name]), (f"{name}_dev", dev)):
            np.savez_compressed(out / "pairs" / f"{label}.npz", **pair_arrays(some, vocabulary))  # type: ignore[arg-type]
        sources[place] = _digest(data / place)
        counted[name] = {
            "train": len(training[name]),
            "dev": len(dev),
            "left out as leaks": len(pairs) - len(kept),
            "bad lines": len(pairs.skipped),
        }
        counts = ", ".join(f"{count:,} {what}" for what, count in counted[name].items())
        say(f"{name}: {counts}")

    frequencies = np.zeros(len(vocabulary), dtype=np.int64)
    if corpus:
        for number, file in enumerate(corpus_files(data / "corpus")):
            held = encode_lines(_lines(file, leaks, held_out=True), vocabulary.encode)
            learnt = encode_lines(_lines(file, leaks, held_out=False), vocabulary.encode)
            for part, ids in (("corpus", learnt), ("heldout", held)):
                (out / f"{part}-{number}.u16.xz").write_bytes(lzma.compress(ids.tobytes(), preset=6))
            sources[f"corpus/{file.name}"] = _digest(file)
            characters[file.name] = {"train": len(learnt), "heldout": len(held)}
            frequencies += np.bincount(learnt, minlength=len(vocabulary))
            say(f"{file.name}: {len(learnt):,} characters, {len(held):,} held out")
    else:
        frequencies += character_counts(training, vocabulary)
    np.savez_compressed(out / "noise.npz", **fit_noise(training, vocabulary, frequencies).arrays())  # type: ignore[arg-type]
    manifest = {
        "vocabulary": hashlib.sha256(characters_known).hexdigest(),
        "sources": sources,
        "pairs": counted,
        "characters": characters,
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=1)
    (out / "manifest.json").write_text(text + "\n", encoding="utf-8")


def _clear(out: Path) -> None:
    """Remove what was prepared before: another vocabulary or corpus would go on living in a file left over.

    The manifest goes first and is written last, so that a folder with one is complete.
    """
    for pattern in (
        "manifest.json",
        "noise.npz",
        "characters.npz",
        "corpus-*.u16*",
        "heldout-*.u16*",
        "pairs/*.npz",
    ):
        for path in out.glob(pattern):
            path.unlink()


def noise_from(data: Path, vocabulary: Vocabulary, leaks: LeakFilter) -> NoiseModel:
    """The noise model alone, from the pairs of the data folder; character frequencies are theirs, too."""
    training = {
        name: [
            pair
            for pair in without_leaks(read_pairs(data / place, lenient=True), leaks)
            if not is_dev(pair, one_in)
        ]
        for name, (place, one_in) in TRAINING_SETS.items()
    }
    return fit_noise(training, vocabulary, character_counts(training, vocabulary))


def fit_noise(
    training: dict[str, list[Pair]], vocabulary: Vocabulary, frequencies: NDArray[np.int64]
) -> NoiseModel:
    """The noise model of the training sets; frequencies: how often each id occurs in text, (V,)."""
    shares = frequencies / frequencies.sum()
    return noise_fitting.fit(
        noise_recipes(training),
        vocabulary,
        noise_fitting.similar_characters(vocabulary, shares),
        noise_fitting.words_of_one_sound(noise_fitting.jieba_words()),
        shares,
    )


def character_counts(training: dict[str, list[Pair]], vocabulary: Vocabulary) -> NDArray[np.int64]:
    """How often each id occurs on the right sides, (V,)."""
    text = "".join(pair.target for pairs in training.values() for pair in pairs)
    return np.bincount(vocabulary.encode(text), minlength=len(vocabulary)).astype(np.int64)


def without_leaks(pairs: Sequence[Pair], leaks: LeakFilter) -> list[Pair]:
    """The pairs of which neither side holds anything of the evaluation data."""
    return [pair for pair in pairs if not leaks.leaks(pair.source) and not leaks.leaks(pair.target)]


def noise_recipes(training: dict[str, list[Pair]]) -> list[ProfileRecipe]:
    """The four ways of going wrong: a learner's, a native writer's, a scanner's, an input method's."""

    def pairs(names: Sequence[str]) -> list[Pair]:
        return [pair for name in names for pair in training[name]]

    return [
        ProfileRecipe("learner", pairs(LEARNERS), strength=4.0, word_share=0.1),
        ProfileRecipe("writer", pairs(WRITERS), strength=4.0, word_share=0.1),
        ProfileRecipe("scanner", pairs(SCANNERS), strength=4.0, word_share=0.0),
        ProfileRecipe(
            "input_method", [], strength=1.0, word_share=0.6, weight=noise_fitting.input_method_weight
        ),
    ]


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
