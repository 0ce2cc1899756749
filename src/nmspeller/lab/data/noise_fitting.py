"""Fit the noise model: count real errors, back off to similarity, and list the words that sound alike."""

import math
import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.data.noise import NoiseModel
from nmspeller.lab.data.pairs import Pair
from nmspeller.text.vocabulary import Vocabulary

CANDIDATES = 48
WORD_ALTERNATIVES = 12
SAME_SYLLABLE = 0.9  # knowledge.pinyin gives at least this to characters that differ in tone alone

# Occurrences of a character after which its own error rate outweighs that of its like.
_TRUST = 200.0
# A character's frequency counts as at least this: the rarest are in nobody's pairs.
_RAREST = 1e-6
# How many counted errors of a word all words of its sound together are worth.
_WORD_STRENGTH = 4.0
# Both fits: Newton's steps, and how strongly they are held to their start, so that few counts move little.
_STEPS = 20
_CAUTION = 10.0


@dataclass(frozen=True)
class Similar:
    """A character that may stand for another: how alike they sound and look (0 to 1), how common it is."""

    character: str
    sound: float
    shape: float
    frequency: float


Weight = Callable[[Similar], float]
Counts = Mapping[str, Counter[str]]


@dataclass(frozen=True)
class ProfileRecipe:
    """How one profile is fitted.

    pairs: real pairs to count, possibly none.
    strength: how many counted errors of a character the back-off is worth.
    word_share: see NoiseModel.
    weight: the back-off's weight of a similar character; 0 rules it out. None: `Taste`, fitted to the pairs.
    """

    name: str
    pairs: Sequence[Pair]
    strength: float
    word_share: float
    weight: Weight | None = None


@dataclass(frozen=True)
class Taste:
    """How much each property of a similar character makes people write it; without counts, the defaults.

    Sound and shape multiply: what shares both, as characters with one phonetic part do, is by far the
    likeliest error of somebody who can write.
    """

    frequency: float = 0.5
    sound: float = 5.0
    shape: float = 5.0

    def __call__(self, similar: Similar) -> float:
        # A million of them are weighed, one by one, for which numpy would be slow.
        likings = (self.frequency, self.sound, self.shape)
        return math.exp(sum(map(operator.mul, likings, self.properties(similar))))

    @staticmethod
    def properties(similar: Similar) -> list[float]:
        return [math.log(similar.frequency), similar.sound**2, similar.shape**2]

    @classmethod
    def fitted(cls, errors: Counts, similar: Mapping[str, Sequence[Similar]]) -> "Taste":
        """The one under which the errors, wrong characters counted for each right one, are most probable."""
        taste = start = np.array([cls.frequency, cls.sound, cls.shape])
        # (similar, 3) and how often each was written, (similar,), for each character
        choices = [
            (
                np.array([cls.properties(each) for each in similar[right]]),
                np.array([counts[each.character] for each in similar[right]]),
            )
            for right, counts in errors.items()
            if any(counts[each.character] for each in similar.get(right, ()))
        ]
        for _ in range(_STEPS):
            gradient, curvature = _CAUTION * (start - taste), _CAUTION * np.eye(3)
            for properties, counts in choices:
                weights = np.exp(properties @ taste)
                shares = weights / weights.sum()
                apart = properties - shares @ properties
                gradient += counts @ apart
                curvature += counts.sum() * (apart.T * shares) @ apart
            taste = taste + np.linalg.solve(curvature, gradient)
        return cls(*taste.tolist())


def input_method_weight(similar: Similar) -> float:
    """An input method offers common characters of exactly that sound."""
    sound = 1.0 if similar.sound >= SAME_SYLLABLE else 0.05 * math.pow(similar.sound, 4)
    return math.pow(similar.frequency, 0.7) * sound


def fit(
    recipes: Sequence[ProfileRecipe],
    vocabulary: Vocabulary,
    similar: Mapping[str, Sequence[Similar]],
    words: Mapping[str, Sequence[tuple[str, float]]],
    frequencies: NDArray[np.floating],
) -> NoiseModel:
    """A noise model from recipes, the characters similar to each, and the homophones of each word.

    frequencies: the share of each id in text, (V,).
    """
    fitted = [_fit_profile(recipe, vocabulary, similar, frequencies) for recipe in recipes]
    keys, wrong_words, word_cumulative = _word_tables(words, vocabulary)
    return NoiseModel(
        names=tuple(recipe.name for recipe in recipes),
        place=np.stack([place for place, _, _, _ in fitted]),
        wrong=np.stack([wrong for _, wrong, _, _ in fitted]),
        wrong_cumulative=np.stack([cumulative for _, _, cumulative, _ in fitted]),
        word_share=np.array([recipe.word_share for recipe in recipes], dtype=np.float32),
        adjacent=np.array([adjacent for _, _, _, adjacent in fitted], dtype=np.float32),
        word_keys=keys,
        word_wrong=wrong_words,
        word_cumulative=word_cumulative,
    )


def _fit_profile(
    recipe: ProfileRecipe,
    vocabulary: Vocabulary,
    similar: Mapping[str, Sequence[Similar]],
    frequencies: NDArray[np.floating],
) -> tuple[NDArray[np.float32], NDArray[np.uint16], NDArray[np.float32], float]:
    errors: dict[str, Counter[str]] = defaultdict(Counter)
    seen: Counter[str] = Counter()
    runs = single = 0
    for source, target in recipe.pairs:
        seen.update(target)
        wrong_before = False
        for wrong, right in zip(source, target, strict=True):
            if wrong != right:
                errors[right][wrong] += 1
                runs, single = runs + wrong_before, single + 1
            wrong_before = wrong != right
    weigh = recipe.weight or Taste.fitted(errors, similar)
    numbers = {right: number for right in similar if (number := vocabulary.id(right)) != vocabulary.unk}
    rates = error_rates(
        np.array([sum(errors[right].values()) if right in errors else 0 for right in numbers]),
        np.array([seen[right] for right in numbers]),
        frequencies[list(numbers.values())],
    )

    size = len(vocabulary)
    place = np.zeros(size, dtype=np.float32)
    candidates = np.zeros((size, CANDIDATES), dtype=np.uint16)
    cumulative = np.ones((size, CANDIDATES), dtype=np.float32)
    for (right, number), rate in zip(numbers.items(), rates.tolist(), strict=True):
        weights: dict[str, float] = defaultdict(float)
        backoff = {other.character: weigh(other) for other in similar[right] if other.character != right}
        total = sum(backoff.values())
        for character, weight in backoff.items():
            weights[character] += recipe.strength * weight / total if total else 0.0
        for character, count in errors[right].items():
            weights[character] += count
        chosen = [
            (vocabulary.id(character), weight)
            for character, weight in sorted(weights.items(), key=lambda entry: -entry[1])[:CANDIDATES]
            if weight > 0 and vocabulary.id(character) != vocabulary.unk
        ]
        if not chosen:
            continue
        ids, shares = zip(*chosen, strict=True)
        candidates[number, : len(ids)] = ids
        cumulative[number, : len(ids)] = np.cumsum(shares) / np.sum(shares)
        place[number] = (sum(errors[right].values()) + _TRUST * rate) / (seen[right] + _TRUST)
    return place, candidates, cumulative, runs / max(single, 1)


def error_rates(
    errors: NDArray[np.integer], seen: NDArray[np.integer], frequencies: NDArray[np.floating]
) -> NDArray[np.float64]:
    """How often characters as frequent as each are misspelt: a power of their frequency, (characters,).

    errors, seen: of each character in real pairs. frequencies: its share in text. People misspell rare
    characters ten times as often as common ones, and more; where nothing was counted, so does this.
    """
    logarithms = np.log(np.maximum(frequencies, _RAREST))
    terms = np.stack([np.ones_like(logarithms), logarithms], axis=1)
    power = -0.3
    level = np.log((errors.sum() + 1) / (seen @ np.exp(power * logarithms) + 1))
    line = start = np.array([level, power])
    for _ in range(_STEPS):
        expected = seen * np.exp(terms @ line)
        gradient = terms.T @ (errors - expected) + _CAUTION * (start - line)
        line = line + np.linalg.solve((terms.T * expected) @ terms + _CAUTION * np.eye(2), gradient)
    return np.asarray(np.exp(terms @ line))


def _word_tables(
    words: Mapping[str, Sequence[tuple[str, float]]], vocabulary: Vocabulary
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    size = len(vocabulary)

    def key(word: str) -> int | None:
        first, second = vocabulary.encode(word)
        return None if vocabulary.unk in (first, second) else int(first) * size + int(second)

    rows: list[tuple[int, list[int], list[float]]] = []
    for word, alternatives in words.items():
        known = [(key(other), weight) for other, weight in alternatives[:WORD_ALTERNATIVES]]
        kept = [(number, weight) for number, weight in known if number is not None]
        own = key(word)
        if own is not None and kept:
            rows.append((own, [number for number, _ in kept], [weight for _, weight in kept]))
    rows.sort()
    wrong = np.zeros((len(rows), WORD_ALTERNATIVES), dtype=np.int32)
    cumulative = np.ones((len(rows), WORD_ALTERNATIVES), dtype=np.float32)
    for index, (_, numbers, weights) in enumerate(rows):
        wrong[index, : len(numbers)] = numbers
        cumulative[index, : len(numbers)] = np.cumsum(weights) / np.sum(weights)
    return np.array([own for own, _, _ in rows], dtype=np.int32), wrong, cumulative


def words_of_one_sound(
    frequencies: Iterable[tuple[str, int]], counted: Counts
) -> dict[str, list[tuple[str, float]]]:
    """For each two-character word what is written for it, most likely first, with weights.

    That is the other words of the same toneless sound, by how common they are, and what was counted.

    frequencies: words with how often they occur (jieba's dictionary has them).
    counted: words that people wrote for each, of whatever sound.
    """
    from pypinyin import lazy_pinyin

    groups: dict[tuple[str, ...], list[tuple[str, float]]] = defaultdict(list)
    for word, frequency in frequencies:
        groups[tuple(lazy_pinyin(word))].append((word, frequency**0.6))
    table: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for group in groups.values():
        total = sum(weight for _, weight in group)
        for word, own in group:
            for other, weight in group:
                if other != word:
                    table[word][other] = _WORD_STRENGTH * weight / (total - own)
    for word, errors in counted.items():
        for other, count in errors.items():
            table[word][other] += count
    return {word: sorted(others.items(), key=lambda entry: -entry[1]) for word, others in table.items()}


def count_words(pairs: Iterable[Pair], words: Container[str]) -> dict[str, Counter[str]]:
    """How often each two-character word was written for another: errors that no dictionary finds."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for source, target in pairs:
        wrong = {place for place in range(len(source)) if source[place] != target[place]}
        for start in wrong | {place - 1 for place in wrong if place}:
            written, meant = source[start : start + 2], target[start : start + 2]
            if written in words and meant in words:
                counted[meant][written] += 1
    return counted


def jieba_words(length: int | None = 2, least_frequency: int = 5) -> list[tuple[str, int]]:
    """The words of jieba's dictionary with their frequencies: those of so many characters, or all."""
    from importlib.util import find_spec

    # jieba itself is not imported: it takes a second and warns of its own age.
    found = find_spec("jieba")
    if found is None or found.origin is None:
        raise InputError("the noise model needs jieba; install it with `pip install nmspeller[train]`.")
    lines = Path(found.origin).with_name("dict.txt").read_text(encoding="utf-8").splitlines()
    entries = (line.split(" ") for line in lines)
    return [
        (word, int(count))
        for word, count, *_ in entries
        if length in (None, len(word)) and int(count) >= least_frequency
    ]


def similar_characters(vocabulary: Vocabulary, frequencies: NDArray[np.floating]) -> dict[str, list[Similar]]:
    """The characters that each Hanzi of the vocabulary is confused with, from our own confusion set.

    frequencies: how often each id occurs in text, (V,); a character nobody writes is nobody's error.
    """
    from nmspeller.knowledge import confusion, shape

    return {
        right: [
            Similar(other, _sound(right, other), shape.similarity(right, other), float(frequencies[number]))
            for other in others
            if (number := vocabulary.id(other)) != vocabulary.unk and frequencies[number] > 0
        ]
        for right, others in confusion.own_set(candidates=100).items()
        if vocabulary.id(right) != vocabulary.unk
    }


def _sound(a: str, b: str) -> float:
    """How alike two characters sound as they are mostly read; a rare reading counts little."""
    from nmspeller.knowledge import pinyin
    from nmspeller.knowledge.sounds import syllable_similarity

    ours, theirs = pinyin.readings(a)[:1], pinyin.readings(b)[:1]
    usual = syllable_similarity(ours[0], theirs[0]) if ours and theirs else 0.0
    return max(usual, 0.6 * pinyin.similarity(a, b))
