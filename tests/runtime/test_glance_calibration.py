import numpy as np
import pytest

from nmspeller.runtime.glance_calibration import Glances, choose_glances, suspicion_of_findings
from nmspeller.runtime.policy import Level, Thresholds
from nmspeller.runtime.thresholds import Candidates


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
