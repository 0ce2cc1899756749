"""The profiles of the noise model, each fitted to the sets whose errors the table says it has."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from nmspeller.lab.data import noise_fitting
from nmspeller.lab.data.datasets import DataTable, Profile
from nmspeller.lab.data.leak_filter import LeakFilter
from nmspeller.lab.data.noise import NoiseModel
from nmspeller.lab.data.noise_fitting import ProfileRecipe
from nmspeller.lab.data.pairs import Pair
from nmspeller.lab.data.splits import Split, read_sets
from nmspeller.text.vocabulary import Vocabulary

LEARNER: Profile = "learner"
WRITER: Profile = "writer"
SCANNER: Profile = "scanner"
INPUT_METHOD: Profile = "input_method"
# Errors of people at a keyboard or with a pen, whose words say which words are taken for each other.
_BY_PEOPLE = (LEARNER, WRITER, INPUT_METHOD)

Training = Mapping[str, Sequence[Pair]]


def read_training(table: DataTable, splits: Mapping[str, Split]) -> dict[str, list[Pair]]:
    """The training part of every set, and confusion sets as pairs of one character."""
    training = {name: split.training for name, split in splits.items()}
    for name, one in table.training("confusions").items():
        lines = [line for path in table.paths(one) for line in path.read_text(encoding="utf-8").splitlines()]
        training[name] = [
            Pair(wrong, right)
            for right, _, others in (line.partition(":") for line in lines)
            for wrong in others
            if wrong != right
        ]
    return training


def noise_from(table: DataTable, vocabulary: Vocabulary, leaks: LeakFilter) -> NoiseModel:
    """The noise model alone, from the pairs of the data folder; character frequencies are theirs, too."""
    training = read_training(table, read_sets(table, leaks))
    return fit_noise(table, training, vocabulary, character_counts(training, vocabulary))


def fit_noise(
    table: DataTable, training: Training, vocabulary: Vocabulary, frequencies: NDArray[np.int64]
) -> NoiseModel:
    """The noise model of the training sets; frequencies: how often each id occurs in text, (V,)."""
    shares = frequencies / frequencies.sum()
    words = noise_fitting.jieba_words()
    by_people = [pair for name in _BY_PEOPLE for pair in pairs_of(table, training, name)]
    return noise_fitting.fit(
        noise_recipes(table, training),
        vocabulary,
        noise_fitting.similar_characters(vocabulary, shares),
        noise_fitting.words_of_one_sound(words, noise_fitting.count_words(by_people, dict(words))),
        shares,
    )


def noise_recipes(table: DataTable, training: Training) -> list[ProfileRecipe]:
    """A learner's, a native writer's, a scanner's and an input method's; and one for each confusion set.

    The four are always there: without pairs they follow similarity of sound and shape alone.
    """
    return [
        ProfileRecipe(LEARNER, pairs_of(table, training, LEARNER), strength=4.0, word_share=0.1),
        ProfileRecipe(WRITER, pairs_of(table, training, WRITER), strength=4.0, word_share=0.15),
        ProfileRecipe(SCANNER, pairs_of(table, training, SCANNER), strength=4.0, word_share=0.0),
        ProfileRecipe(
            INPUT_METHOD,
            pairs_of(table, training, INPUT_METHOD),
            strength=4.0,
            word_share=0.6,
            weight=noise_fitting.input_method_weight,
        ),
        *(
            ProfileRecipe(name, training[name], strength=0.0, word_share=0.0)
            for name in table.training("confusions")
        ),
    ]


def pairs_of(table: DataTable, training: Training, profile: Profile) -> list[Pair]:
    """The pairs of the sets whose errors are of this profile."""
    return [pair for name, one in table.items() if one.noise == profile for pair in training.get(name, ())]


def character_counts(training: Training, vocabulary: Vocabulary) -> NDArray[np.int64]:
    """How often each id occurs on the right sides, (V,)."""
    text = "".join(pair.target for pairs in training.values() for pair in pairs)
    return np.bincount(vocabulary.encode(text), minlength=len(vocabulary)).astype(np.int64)
