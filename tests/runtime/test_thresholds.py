import shutil
from pathlib import Path

import numpy as np
import pytest

from nmspeller import InputError
from nmspeller.data.pairs import Pair
from nmspeller.runtime.policy import Level, Policy, Thresholds
from nmspeller.runtime.reader import Reader
from nmspeller.runtime.thresholds import (
    Candidates,
    Glances,
    calibrate,
    candidates,
    choose,
    choose_glances,
    suspicion_of_findings,
)


def of(*rows: tuple[int, float, bool, bool], errors: list[int]) -> Candidates:
    """Rows of sentence, certainty, explained, right; every sentence is one window."""
    sentence, certainty, explained, right = (np.array(column) for column in zip(*rows, strict=True))
    probability, kept = np.ones(len(rows)), 1 / certainty - 1
    return Candidates(sentence, sentence, probability, kept, explained, right, np.array(errors))


DEV = of(
    (0, 0.9, True, True),  # corrected
    (1, 0.8, True, True),  # corrected, but for
    (1, 0.4, False, False),  # a false change
    (2, 0.6, False, False),  # a false alarm
    (3, 0.3, True, True),  # one of two errors
    errors=[1, 1, 0, 2],
)


def test_sentences_are_counted_as_the_metrics_count_them() -> None:
    counts = DEV.measure(Thresholds(0.25, 0.35))
    assert counts == (1, 4, 3, 1, 1)
    assert DEV.measure(Thresholds(0.25, 0.7)) == (2, 3, 3, 0, 1)
    assert DEV.measure(Thresholds(0.5, 0.7)).f(1.0) == pytest.approx(2 * 2 / (2 + 3))


def test_the_best_thresholds_are_chosen() -> None:
    balanced = choose(DEV, None)[Level.BALANCED]
    assert 0.3 < balanced.explained <= 0.8
    assert balanced.unexplained > 0.6


def test_clean_sentences_raise_the_thresholds() -> None:
    clean = of((0, 0.85, True, False), errors=[0] * 100)
    assert choose(DEV, clean)[Level.BALANCED].explained > 0.85


def test_stricter_levels_are_stricter() -> None:
    levels = choose(DEV, None)
    for part in ("explained", "unexplained"):
        careful, balanced, thorough = (getattr(levels[level], part) for level in Level)
        assert careful >= balanced >= thorough


def test_candidates_are_compared_with_the_targets(model_folder: Path) -> None:
    reader = Reader(model_folder, threads=1)
    source = "我门去外国可以认识很多的人。"
    found = candidates(reader, [Pair(source, source), Pair("", ""), Pair(source, source)])
    assert found.errors.tolist() == [0, 0, 0]
    assert set(found.sentence.tolist()) == {0, 2}
    assert not found.right.any()


def test_calibrating_writes_what_it_chose(model_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(model_folder, tmp_path / "model")
    reader = Reader(folder, threads=1)
    source = "我门去外国可以认识很多的人。"
    target = source.replace("门", "们")
    policy = calibrate(reader, [Pair(source, target), Pair(target, target)], [target] * 3)
    policy.write(folder / "policy.json")
    again = Policy.read(folder / "policy.json")
    assert again == policy
    assert again.calibration["pairs"] == 2
    assert set(again.calibration["levels"]) == {"careful", "balanced", "thorough"}
    assert again.levels[Level.CAREFUL].explained >= again.levels[Level.THOROUGH].explained


def test_no_pairs_to_calibrate_on(model_folder: Path) -> None:
    with pytest.raises(InputError, match="no pairs"):
        calibrate(Reader(model_folder, threads=1), [])


def test_a_sentence_is_lost_with_the_least_suspicious_window_of_its_findings() -> None:
    sentence, window = np.array([0, 0, 1, 2, 2]), np.array([0, 2, 3, 4, 5])
    certainty = np.array([0.9, 0.9, 0.3, 0.9, 0.3])
    found = Candidates(
        sentence, window, np.ones(5), 1 / certainty - 1, np.ones(5, bool), np.ones(5, bool), np.ones(4)
    )
    # Window 1 has no finding, and sentence 3 has none either.
    glanced = Glances(np.array([0, 0, 0, 1, 2, 2, 3]), np.array([0.5, 0.1, 0.4, 0.3, 0.8, 0.2, 0.0]))
    strict, lax = (
        suspicion_of_findings(found, glanced, Thresholds(least, least)).tolist() for least in (0.5, 0.2)
    )
    assert strict == pytest.approx([0.4, 0.8])
    assert lax == pytest.approx([0.4, 0.3, 0.2])


def everywhere(suspicion: list[float]) -> dict[Level, np.ndarray]:
    return dict.fromkeys(Level, np.array(suspicion, np.float32))


def test_the_glance_may_lose_one_sentence_in_two_hundred() -> None:
    # The lowest of 400 stand apart, so that it shows how many of them are given up.
    lowest = [0.01, 0.02, 0.2]
    for sentences, low, high in ((400, 0.02, 0.2), (399, 0.01, 0.02), (199, 0.0, 0.01)):
        suspicion = lowest + [0.5] * (sentences - len(lowest))
        for threshold in choose_glances(everywhere(suspicion)).values():
            assert low < threshold <= high
            # The highest that does: half of the way to the next sentence is more than a step of the grid.
            assert threshold > (low + high) / 2


def test_a_window_is_read_at_the_very_threshold() -> None:
    assert set(choose_glances(everywhere([0.5])).values()) == {0.5}


def test_a_laxer_level_never_has_the_higher_glance_threshold() -> None:
    suspicion = everywhere([0.3])
    suspicion[Level.BALANCED] = np.array([0.6], np.float32)
    suspicion[Level.THOROUGH] = np.array([0.1], np.float32)
    careful, balanced, thorough = choose_glances(suspicion).values()
    assert 0.28 < careful == balanced <= 0.3
    assert 0.09 < thorough <= 0.1


def test_where_a_level_finds_nothing_everything_is_read() -> None:
    suspicion = everywhere([0.9])
    suspicion[Level.BALANCED] = np.zeros(0, np.float32)
    careful, balanced, thorough = choose_glances(suspicion).values()
    assert careful > 0.8
    assert balanced == thorough == 0
