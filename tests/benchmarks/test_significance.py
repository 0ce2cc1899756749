"""The tests of significance against plain enumeration and resampling."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmspeller.errors import InputError
from nmspeller.lab.evaluation.metrics import compare
from nmspeller.lab.evaluation.outcomes import letters
from significance import (
    compare_f1,
    correction_counts,
    f1_interval,
    gain_of_picking,
)

# What can happen to a sentence: true positive, found, wrong.
HAPPENINGS = [(0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)]


def f1(counts):
    hits, found, wrong = np.sum(counts, axis=0)
    return 200 * hits / (found + wrong) if found + wrong else 0.0


@st.composite
def two_spellers(draw):
    wrong = draw(st.lists(st.integers(0, 1), min_size=1, max_size=8))
    choices = {w: [h for h in HAPPENINGS if h[2] == w] for w in (0, 1)}
    return tuple(np.array([draw(st.sampled_from(choices[w])) for w in wrong]) for _ in range(2))


@settings(max_examples=40, deadline=None)
@given(two_spellers())
def test_randomisation_approaches_the_exact_test(spellers):
    first, second = spellers
    seen = f1(second) - f1(first)
    as_large = 0
    for swap in itertools.product([False, True], repeat=len(first)):
        mask = np.array(swap)[:, None]
        difference = f1(np.where(mask, first, second)) - f1(np.where(mask, second, first))
        as_large += abs(difference) >= abs(seen) - 1e-9
    found = compare_f1((first, second), samples=20_000)
    assert found.difference == pytest.approx(seen)
    assert found.p_randomisation == pytest.approx(as_large / 2 ** len(first), abs=0.02)


def spellers(sentences=400, seed=1, better=0.15):
    rng = np.random.default_rng(seed)
    wrong = rng.integers(0, 2, sentences)
    first, second = np.zeros((2, sentences, 3), dtype=np.int64)
    for counts, skill in ((first, 0.6), (second, 0.6 + better)):
        hit = wrong * (rng.random(sentences) < skill)
        counts[:] = np.stack((hit, np.maximum(hit, rng.random(sentences) < 0.3), wrong), axis=1)
    return first, second


def test_intervals_equal_those_of_plain_resampling():
    first, second = spellers()
    rng = np.random.default_rng(5)
    drawn = rng.integers(0, len(first), size=(4000, len(first)))
    one, two = ([f1(counts[row]) for row in drawn] for counts in (first, second))
    assert f1_interval(first) == pytest.approx(tuple(np.quantile(one, [0.025, 0.975])), abs=0.6)
    difference = np.subtract(two, one)
    found = compare_f1((first, second))
    assert found.interval == pytest.approx(tuple(np.quantile(difference, [0.025, 0.975])), abs=0.6)


def test_several_sets_are_compared_by_their_mean():
    sets = [spellers(seed=seed, better=0.05) for seed in range(3)]
    alone = [compare_f1(each) for each in sets]
    together = compare_f1(*sets)
    assert together.difference == pytest.approx(np.mean([each.difference for each in alone]))

    def width(found):
        return found.interval.high - found.interval.low

    # The sets are drawn apart, so that the interval of their mean is narrower by the square root of three.
    assert width(together) == pytest.approx(np.mean([width(each) for each in alone]) / 3**0.5, rel=0.1)
    assert together.p_randomisation < np.median([each.p_randomisation for each in alone])


def test_a_real_difference_is_found_and_none_is_not():
    first, second = spellers()
    found = compare_f1((first, second))
    assert found.difference > 0
    assert found.interval.low > 0
    assert found.p_randomisation < 0.01
    same = compare_f1((first, first))
    assert same.difference == 0
    assert same.p_randomisation == 1


def test_a_fixed_seed_gives_the_same_answer():
    first, second = spellers()
    assert compare_f1((first, second)) == compare_f1((first, second))
    assert f1_interval(first) == f1_interval(first)


def test_running_a_set_three_times_does_not_make_it_larger():
    first, second = spellers(better=0.05)
    once, thrice = compare_f1((first, second)), compare_f1((3 * first, 3 * second))
    assert thrice.difference == pytest.approx(once.difference)
    assert thrice.p_randomisation == once.p_randomisation


SOURCES, TARGETS = ["他再家", "他再家", "好的", "好的"], ["他在家", "他在家", "好的", "好的"]


def test_counts_come_from_outcomes_and_add_over_seeds():
    one = letters(compare(SOURCES, TARGETS, ["他在家", "他载家", "好的", "好地"]))
    two = letters(compare(SOURCES, TARGETS, ["他在家", "他再家", "好的", "好的"]))
    assert (one, two) == ("cd-f", "cm--")
    assert correction_counts([one]).tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 0], [0, 1, 0]]
    assert correction_counts([one, two]).tolist() == [[2, 2, 2], [0, 1, 2], [0, 0, 0], [0, 1, 0]]


def test_different_sentences_are_not_compared():
    first, _ = spellers()
    with pytest.raises(InputError):
        compare_f1((first, first[1:]))
    with pytest.raises(InputError):
        correction_counts([])
    three, four = (letters(compare(SOURCES[:n], TARGETS[:n], TARGETS[:n])) for n in (3, 4))
    with pytest.raises(InputError):
        correction_counts([three, four])


def test_picking_the_best_of_equals_gains_more_the_more_there_are():
    draw = np.random.default_rng(0)
    equals = [correction_counts(["".join(draw.choice(list("cm"), size=400))]) for _ in range(8)]
    of_one, of_two, of_eight = (gain_of_picking(equals[:count], samples=2_000) for count in (1, 2, 8))
    assert abs(of_one) < 0.2
    assert of_one < of_two < of_eight < 5


def test_picking_one_that_is_far_better_gains_next_to_nothing():
    good, bad = correction_counts(["c" * 300 + "m" * 100]), correction_counts(["c" * 100 + "m" * 300])
    assert abs(gain_of_picking([good, bad], samples=2_000)) < 0.2
