"""Significance: is one speller better than another, or could it be chance?

Everything is computed from per-sentence counts, an array of shape (sentences, 3): true positives, sentences
found, sentences with errors. Sentences with equal counts are interchangeable, so resampling draws the
number of each kind instead of single sentences; the distribution is that of the ordinary bootstrap, at a
fraction of its cost.

Counts of several seeds may be added: the sentence stays the unit that is drawn or swapped, so that three
runs on a test set do not count as a test set three times as large.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.evaluation.outcomes import CORRECTED, DETECTED, FALSE_ALARM, MISSED, UNCHANGED, WRONG

SAMPLES = 10_000
SEED = 20230505
# True positive, found, erroneous.
COUNTS = {
    UNCHANGED: (0, 0, 0),
    FALSE_ALARM: (0, 1, 0),
    MISSED: (0, 0, 1),
    WRONG: (0, 1, 1),
    DETECTED: (0, 1, 1),
    CORRECTED: (1, 1, 1),
}

Counts = NDArray[np.int64]
Figures = NDArray[np.float64]


class Interval(NamedTuple):
    """The middle of a bootstrap distribution, in percent."""

    low: float
    high: float


class Comparison(NamedTuple):
    """The F1 of a second speller minus that of the first, in points, with its p-value."""

    difference: float
    interval: Interval
    p_randomisation: float


def correction_counts(runs: Iterable[str]) -> Counts:
    """Counts of sentence-level correction, added over the runs (seeds) of one speller: (sentences, 3).

    runs: the letters of each run, see the module `outcomes`.
    """
    return _add([_counts(run) for run in runs])


@cache  # a page compares each run with many others
def _counts(run: str) -> Counts:
    return np.array([COUNTS[letter] for letter in run], dtype=np.int64).reshape(-1, 3)


def f1_interval(counts: Counts, *, level: float = 0.95, samples: int = SAMPLES, seed: int = SEED) -> Interval:
    """The percentile bootstrap interval of F1."""
    if not len(counts):
        return Interval(0.0, 0.0)
    kinds, weights = np.unique(counts, axis=0, return_counts=True)
    return _middle(_f1(_draw(weights, samples, seed) @ kinds), level)


def f1_difference(first: Counts, second: Counts) -> float:
    """The F1 of a second speller minus that of the first, in points."""
    return float(_f1(second.sum(axis=0)) - _f1(first.sum(axis=0)))


def compare_f1(
    *sets: tuple[Counts, Counts], level: float = 0.95, samples: int = SAMPLES, seed: int = SEED
) -> Comparison:
    """Compare two spellers on the same sentences, by F1, or by its mean over several sets.

    The paired bootstrap gives the interval of the difference. Approximate randomisation, which swaps the two
    spellers' answers to each sentence with probability 1/2, gives a two-sided p: how often the difference is
    as large as the observed one.

    sets: for each set, the counts of the first speller and those of the second.

    Raises:
        InputError: the counts are of different sentences.
    """
    for first, second in sets:
        if first.shape != second.shape:
            raise InputError(
                f"{len(first)} and {len(second)} sentences cannot be compared; evaluate on the same set."
            )
    sets = tuple(each for each in sets if len(each[0]))
    if not sets:
        return Comparison(0.0, Interval(0.0, 0.0), 1.0)
    seen = float(np.mean([f1_difference(*each) for each in sets]))
    by_set = [_chance(*each, samples=samples, seed=seed + number) for number, each in enumerate(sets)]
    resampled, randomised = np.mean(by_set, axis=0)
    return Comparison(
        difference=seen,
        interval=_middle(resampled, level),
        p_randomisation=_p_value(randomised, seen),
    )


def gain_of_picking(candidates: Sequence[Counts], *, samples: int = SAMPLES, seed: int = SEED) -> float:
    """How much picking the best of several spellers on a test set gains by itself, in points of F1.

    The best of each resampled set is measured on that set and on the whole one; the mean difference is what
    the figure of a speller that was picked on its own test set is too high (Efron's optimism).
    """
    kinds, weights = np.unique(np.hstack(list(candidates)), axis=0, return_counts=True)
    drawn = _draw(weights, samples, seed)
    resampled = np.stack([_f1(drawn @ kinds[:, 3 * k : 3 * k + 3]) for k in range(len(candidates))])
    whole = np.array([_f1(one.sum(axis=0)) for one in candidates])
    picked = resampled.argmax(axis=0)
    return float((resampled.max(axis=0) - whole[picked]).mean())


def _add(counts: list[Counts]) -> Counts:
    if len({len(one) for one in counts}) != 1:
        raise InputError("runs of different sentences cannot be added; evaluate all on the same set.")
    total: Counts = np.sum(counts, axis=0, dtype=np.int64)
    return total


def _chance(first: Counts, second: Counts, *, samples: int, seed: int) -> tuple[Figures, Figures]:
    """The differences in F1 between two spellers on resampled sentences, and between two shuffled ones."""
    kinds, weights = np.unique(np.hstack((first, second)), axis=0, return_counts=True)
    ours, theirs = kinds[:, :3], kinds[:, 3:]
    drawn = _draw(weights, samples, seed)
    # What a swap moves from one speller to the other: nothing where both gave the same answer.
    moved = (ours - theirs).astype(np.float64)
    differ = moved.any(axis=1)
    swapped = _halve(weights[differ], samples, seed) @ moved[differ]
    return (
        _f1(drawn @ theirs) - _f1(drawn @ ours),
        _f1(second.sum(axis=0) + swapped) - _f1(first.sum(axis=0) - swapped),
    )


def _draw(weights: Counts, samples: int, seed: int) -> Figures:
    """The number of sentences of each kind in each resampled set: (samples, kinds).

    In floats, whose products with the counts are exact and much faster than those of integers.
    """
    total = weights.sum()
    drawn = np.random.default_rng(seed).multinomial(total, weights / total, size=samples)
    return drawn.astype(np.float64)


def _halve(weights: Counts, samples: int, seed: int) -> Figures:
    """How many sentences of each kind are swapped, each with probability 1/2: (samples, kinds).

    That is the number of ones among as many random bits, which is much faster than drawing from the binomial
    distribution.
    """
    rng = np.random.default_rng(seed)
    halves = np.zeros((samples, len(weights)))
    left = weights.copy()
    while (kinds := np.flatnonzero(left)).size:
        taken = np.minimum(left[kinds], 62)
        bits = rng.integers(1 << 62, size=(samples, len(kinds)))
        halves[:, kinds] += np.bitwise_count(bits & ((1 << taken) - 1))
        left[kinds] -= taken
    return halves


def _f1(sums: Counts | Figures) -> Figures:
    """F1 in percent from sums of true positives, found and wrong (last axis); 0 where there is nothing."""
    hits, size = sums[..., 0], sums[..., 1] + sums[..., 2]
    figures: Figures = 200.0 * hits / np.maximum(size, 1)
    return figures


def _middle(values: Figures, level: float) -> Interval:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def _p_value(by_chance: Figures, seen: float) -> float:
    # The observed set counts as one of the samples; rounding must not turn a tie into a smaller difference.
    as_large = np.abs(by_chance) >= abs(seen) - 1e-9
    return (1 + int(as_large.sum())) / (1 + len(by_chance))
