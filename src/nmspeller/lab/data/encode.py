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
from nmspeller.lab.data import noise_fitting
from nmspeller.lab.data.corpus import corpus_files, encode_lines, is_held_out, read_lines
from nmspeller.lab.data.invented_names import sentences_with_names
from nmspeller.lab.data.leak_filter import LeakFilter, evaluation_sentences
from nmspeller.lab.data.noise import NoiseModel
from nmspeller.lab.data.noise_fitting import ProfileRecipe
from nmspeller.lab.data.pairs import Pair
from nmspeller.lab.data.splits import TRAINING_SETS, read_sets
from nmspeller.text.vocabulary import Vocabulary

# Whose errors teach the noise model what.
LEARNERS = ("sighan14_train", "sighan15_train", "lang8", "learners")
WRITERS = ("sighan13_train", "ecspell_law", "ecspell_med", "ecspell_odw", "native", "revisions")
TYPISTS = ("medical", "queries", "hard")
SCANNERS = ("wang", "ocr")
# The confusion set published with Wang271K: it knows errors of the SIGHAN tests (see `data leaks`), so a
# training that uses this profile is labelled as leaking.
LEAKING = "confusion/wang2018.txt"

# Sentences with invented names, of each file of the corpus.
_NAMES = 12_000

Say = Callable[[str], None]


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

    splits = read_sets(data, leaks)
    for name, split in splits.items():
        for label, some in ((name, split.training), (f"{name}_dev", split.dev)):
            np.savez_compressed(out / "pairs" / f"{label}.npz", **pair_arrays(some, vocabulary))  # type: ignore[arg-type]
        counted[name] = {"train": len(split.training), "dev": len(split.dev), **split.left_out}
        counts = ", ".join(f"{count:,} {what}" for what, count in counted[name].items())
        say(f"{name}: {counts}")
    for place in (file for wanted in TRAINING_SETS.values() for file in wanted.files):
        sources[place] = _digest(data / place)
    sources[LEAKING] = _digest(data / LEAKING)
    training = _with_confusions({name: split.training for name, split in splits.items()}, data)

    frequencies = np.zeros(len(vocabulary), dtype=np.int64)
    if corpus:
        named: list[Pair] = []
        for number, file in enumerate(corpus_files(data / "corpus")):
            invented = sentences_with_names(_lines(file, leaks, held_out=False), seed=number)
            named += [Pair(sentence, sentence) for sentence in islice(invented, _NAMES)]
            held = encode_lines(_lines(file, leaks, held_out=True), vocabulary.encode)
            learnt = encode_lines(_lines(file, leaks, held_out=False), vocabulary.encode)
            for part, ids in (("corpus", learnt), ("heldout", held)):
                (out / f"{part}-{number}.u16.xz").write_bytes(lzma.compress(ids.tobytes(), preset=6))
            sources[f"corpus/{file.name}"] = _digest(file)
            characters[file.name] = {"train": len(learnt), "heldout": len(held)}
            frequencies += np.bincount(learnt, minlength=len(vocabulary))
            say(f"{file.name}: {len(learnt):,} characters, {len(held):,} held out")
        np.savez_compressed(out / "pairs" / "names.npz", **pair_arrays(named, vocabulary))  # type: ignore[arg-type]
        counted["names"] = {"train": len(named)}
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
    training = _with_confusions(
        {name: split.training for name, split in read_sets(data, leaks).items()}, data
    )
    return fit_noise(training, vocabulary, character_counts(training, vocabulary))


def fit_noise(
    training: dict[str, list[Pair]], vocabulary: Vocabulary, frequencies: NDArray[np.int64]
) -> NoiseModel:
    """The noise model of the training sets; frequencies: how often each id occurs in text, (V,)."""
    shares = frequencies / frequencies.sum()
    words = noise_fitting.jieba_words()
    typed = [pair for name in (*LEARNERS, *WRITERS, *TYPISTS) for pair in training[name]]
    return noise_fitting.fit(
        noise_recipes(training),
        vocabulary,
        noise_fitting.similar_characters(vocabulary, shares),
        noise_fitting.words_of_one_sound(words, noise_fitting.count_words(typed, dict(words))),
        shares,
    )


def character_counts(training: dict[str, list[Pair]], vocabulary: Vocabulary) -> NDArray[np.int64]:
    """How often each id occurs on the right sides, (V,)."""
    text = "".join(pair.target for pairs in training.values() for pair in pairs)
    return np.bincount(vocabulary.encode(text), minlength=len(vocabulary)).astype(np.int64)


def noise_recipes(training: dict[str, list[Pair]]) -> list[ProfileRecipe]:
    """The ways of going wrong: a learner's, a native writer's, a scanner's, an input method's; Wang271K's."""

    def pairs(names: Sequence[str]) -> list[Pair]:
        return [pair for name in names for pair in training[name]]

    return [
        ProfileRecipe("learner", pairs(LEARNERS), strength=4.0, word_share=0.1),
        ProfileRecipe("writer", pairs(WRITERS), strength=4.0, word_share=0.15),
        ProfileRecipe("scanner", pairs(SCANNERS), strength=4.0, word_share=0.0),
        ProfileRecipe(
            "input_method",
            pairs(TYPISTS),
            strength=4.0,
            word_share=0.6,
            weight=noise_fitting.input_method_weight,
        ),
        ProfileRecipe("wang2018", pairs(["wang2018"]), strength=0.0, word_share=0.0),
    ]


def _with_confusions(training: dict[str, list[Pair]], data: Path) -> dict[str, list[Pair]]:
    """The training sets, and the confusions of wang2018 as pairs of one character."""
    lines = (data / LEAKING).read_text(encoding="utf-8").splitlines()
    pairs = [
        Pair(wrong, right)
        for right, _, others in (line.partition(":") for line in lines)
        for wrong in others
        if wrong != right
    ]
    return {**training, "wang2018": pairs}


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
