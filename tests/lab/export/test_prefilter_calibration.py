import numpy as np
import pytest

from nmspeller.lab.export.prefilter_calibration import (
    PrefilterScores,
    choose_thresholds,
    error_scores_of_detections,
)
from nmspeller.lab.export.thresholds import ScoredCandidates
from nmspeller.runtime.policy import Level, Thresholds


def test_a_sentence_is_lost_with_the_lowest_error_score_of_its_detections() -> None:
    sentence, span = np.array([0, 0, 1, 2, 2]), np.array([0, 2, 3, 4, 5])
    confidence = np.array([0.9, 0.9, 0.3, 0.9, 0.3])
    found = ScoredCandidates(
        sentence, span, np.ones(5), 1 / confidence - 1, np.ones(5, bool), np.ones(5, bool), np.ones(4)
    )
    # Segment 1 has no finding, and sentence 3 has none either.
    prefiltered = PrefilterScores(
        np.array([0, 0, 0, 1, 2, 2, 3]), np.array([0.5, 0.1, 0.4, 0.3, 0.8, 0.2, 0.0])
    )
    strict, lax = (
        error_scores_of_detections(found, prefiltered, Thresholds(least, least)).tolist()
        for least in (0.5, 0.2)
    )
    assert strict == pytest.approx([0.4, 0.8])
    assert lax == pytest.approx([0.4, 0.3, 0.2])


def everywhere(error_score: list[float]) -> dict[Level, np.ndarray]:
    return dict.fromkeys(Level, np.array(error_score, np.float32))


def test_the_prefilter_may_lose_one_sentence_in_two_hundred() -> None:
    # The lowest of 400 stand apart, so that it shows how many of them are given up.
    lowest = [0.01, 0.02, 0.2]
    for sentences, low, high in ((400, 0.02, 0.2), (399, 0.01, 0.02), (199, 0.0, 0.01)):
        error_score = lowest + [0.5] * (sentences - len(lowest))
        for threshold in choose_thresholds(everywhere(error_score)).values():
            assert low < threshold <= high
            # The highest that does: half of the way to the next sentence is more than a step of the grid.
            assert threshold > (low + high) / 2


def test_a_window_with_an_error_score_at_the_threshold_is_read() -> None:
    assert set(choose_thresholds(everywhere([0.5])).values()) == {0.5}


def test_a_laxer_level_never_has_the_higher_prefilter_threshold() -> None:
    error_score = everywhere([0.3])
    error_score[Level.BALANCED] = np.array([0.6], np.float32)
    error_score[Level.THOROUGH] = np.array([0.1], np.float32)
    careful, balanced, thorough = choose_thresholds(error_score).values()
    assert 0.28 < careful == balanced <= 0.3
    assert 0.09 < thorough <= 0.1


def test_a_level_without_detections_reads_everything() -> None:
    error_score = everywhere([0.9])
    error_score[Level.BALANCED] = np.zeros(0, np.float32)
    careful, balanced, thorough = choose_thresholds(error_score).values()
    assert careful > 0.8
    assert balanced == thorough == 0
