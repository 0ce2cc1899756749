"""The prefilter decides what the first pass reads; a second pass reads where it can change something."""

import numpy as np
import pytest

from nmspeller.runtime.decoder import Decoder, Detections, Windows, confidence
from nmspeller.runtime.engine import Scores
from nmspeller.runtime.policy import Thresholds

WRONG, RIGHT, NEIGHBOUR, BETTER, OTHER, UNKNOWN = range(6)
NO_NAMES = np.zeros(2, np.bool_)


class ScriptedEngine:
    """Predicts RIGHT for WRONG, and BETTER for NEIGHBOUR once RIGHT is before it."""

    longest, characters_per_batch = 100, 1000

    def __init__(self, first_probability: float) -> None:
        self.first_probability = first_probability
        self.read: list[int] = []

    def scores(self, ids, starts, stops, threshold=np.inf, tag_threshold=np.inf, few=False):
        self.read.append(len(starts))
        for window, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            for place in range(start, stop):
                target, probability = self.prediction(ids, place)
                if 1 - probability <= threshold:
                    yield Scores(
                        np.array([window]),
                        np.array([place]),
                        np.array([[target, ids[place], OTHER, OTHER, OTHER]], np.int32),
                        np.array([[probability, 1 - probability, 0, 0, 0]], np.float32),
                        np.array([1 - probability], np.float32),
                    )

    def prediction(self, ids, place):
        if ids[place] in (WRONG, UNKNOWN):
            return RIGHT, 0.95
        if ids[place] == NEIGHBOUR:
            return BETTER, 0.95 if ids[place - 1] == RIGHT else self.first_probability
        return OTHER, 0.001


class ScriptedPrefilter:
    """Has fixed error scores for the two halves, and counts its calls."""

    def __init__(self, *error_score: float) -> None:
        self.scores = np.array(error_score, np.float32)
        self.calls = 0

    def select(self, ids, allowed, windows, threshold):
        self.calls += 1
        assert len(windows.starts) == len(self.scores)
        return windows.subset(self.scores >= threshold)


def find(
    engine: ScriptedEngine,
    ids: list[int],
    passes: int,
    prefilter: ScriptedPrefilter | None = None,
    threshold: float = 0.0,
    fixed: tuple[int, ...] = (),
    least: float = 0.8,
    unknown: float = 2.0,
    unexplained: float | None = None,
    names: tuple[int, ...] = (),
) -> Detections:
    """Read two halves of a text at the threshold `least`; what is `fixed` may not change.

    unexplained: the threshold where nothing explains a replacement, as in `names`; `least` if not given.
    """
    replaceable = np.arange(6) != UNKNOWN
    explains_all = lambda originals, _: np.ones(len(originals), np.bool_)  # noqa: E731
    decoder = Decoder(engine, replaceable, replaceable, UNKNOWN, explains_all, prefilter)
    halves = np.array([0, len(ids) // 2]), np.array([len(ids) // 2, len(ids)])
    everything, allowed = np.array(ids, np.int32), np.ones(len(ids), np.bool_)
    allowed[list(fixed)] = False
    found, _ = decoder.find(
        everything,
        allowed,
        np.isin(np.arange(len(ids)), names),
        Windows(*halves, *halves),
        Thresholds(least, least if unexplained is None else unexplained, unknown, threshold),
        passes,
    )
    return found


@pytest.mark.parametrize(("passes", "positions"), [(1, [0]), (2, [0, 1])])
def test_an_uncertain_character_is_read_again_beside_its_corrected_neighbour(passes, positions):
    engine = ScriptedEngine(first_probability=0.3)
    found = find(engine, [WRONG, NEIGHBOUR, OTHER, NEIGHBOUR], passes)
    assert found.positions.tolist() == positions
    assert found.targets.tolist() == [RIGHT, BETTER][:passes]
    # The second window has an uncertain character too, but nothing in it was corrected.
    assert engine.read == [2, 1][:passes]


@pytest.mark.parametrize(("names", "positions"), [((), [0, 2]), ((2,), [0]), ((0, 2), [])])
def test_in_a_name_similarity_explains_nothing(names, positions):
    ids = [WRONG, OTHER, WRONG, OTHER]
    found = find(ScriptedEngine(0.3), ids, 1, least=0.8, unexplained=0.99, names=names)
    assert found.positions.tolist() == positions


def test_a_detection_has_the_scores_that_were_tested():
    found = find(ScriptedEngine(first_probability=0.3), [WRONG, NEIGHBOUR, OTHER, OTHER], 2)
    assert found.probabilities.tolist() == pytest.approx([0.95, 0.95])
    assert (confidence(found.probabilities, found.source_probabilities) >= 0.8).all()


def test_errors_in_the_context_are_corrected_for_the_second_pass_and_then_dropped():
    engine = ScriptedEngine(first_probability=0.3)
    replaceable = np.arange(6) != UNKNOWN
    decoder = Decoder(engine, replaceable, replaceable, UNKNOWN, lambda originals, _: originals >= 0)
    ids = np.array([WRONG, NEIGHBOUR], np.int32)
    bounds = [np.array([place]) for place in (0, 2, 1, 2)]
    found, _ = decoder.find(ids, np.ones(2, np.bool_), NO_NAMES, Windows(*bounds), Thresholds(0.8, 0.8), 2)
    assert found.positions.tolist() == [1]


def test_only_targets_are_proposed():
    replaceable = np.arange(6) != UNKNOWN
    targets = replaceable & (np.arange(6) != RIGHT)
    decoder = Decoder(ScriptedEngine(0.3), replaceable, targets, UNKNOWN, lambda originals, _: originals >= 0)
    bounds = [np.array([place]) for place in (0, 2, 0, 2)]
    ids = np.array([WRONG, OTHER], np.int32)
    found, _ = decoder.find(ids, np.ones(2, np.bool_), NO_NAMES, Windows(*bounds), Thresholds(0.5, 0.5), 1)
    assert not len(found.positions)


def test_third_characters_do_not_support_the_source_character():
    def sure(probability, source_probability):
        return float(confidence(np.float32(probability), np.float32(source_probability)))

    assert sure(0.7, 0.02) > sure(0.85, 0.15)
    assert sure(0.7, 0.02) < sure(0.98, 0.02)
    assert sure(0.1, 0.0) == 1.0
    assert sure(0.0, 0.0) == 0.0


def test_a_second_pass_may_find_nothing():
    engine = ScriptedEngine(first_probability=0.3)
    found = find(engine, [WRONG, OTHER, NEIGHBOUR, OTHER, OTHER, OTHER, OTHER, OTHER], passes=2)
    assert found.positions.tolist() == [0]
    assert engine.read == [2, 1]


def test_without_uncertain_characters_there_is_no_second_pass():
    engine = ScriptedEngine(first_probability=0.01)
    assert find(engine, [WRONG, NEIGHBOUR, OTHER, OTHER], passes=2).positions.tolist() == [0]
    assert engine.read == [2]


@pytest.mark.parametrize(
    ("error_score", "positions"),
    [((0.5, 0.4), [0]), ((0.4, 0.5), [2]), ((0.9, 0.6), [0, 2]), ((0.4, 0.1), [])],
)
def test_only_windows_above_the_threshold_of_the_prefilter_are_read(error_score, positions):
    engine = ScriptedEngine(first_probability=0.01)
    found = find(engine, [WRONG, OTHER, WRONG, OTHER], 1, ScriptedPrefilter(*error_score), threshold=0.5)
    assert found.positions.tolist() == positions
    assert engine.read == [len(positions)]


def test_a_threshold_of_zero_reads_everything_without_the_prefilter():
    engine, prefilter = ScriptedEngine(first_probability=0.01), ScriptedPrefilter(0.0, 0.0)
    assert find(engine, [WRONG, OTHER, WRONG, OTHER], 1, prefilter).positions.tolist() == [0, 2]
    assert prefilter.calls == 0


def test_without_a_prefilter_its_threshold_has_no_effect():
    engine = ScriptedEngine(first_probability=0.01)
    assert find(engine, [WRONG, OTHER, WRONG, OTHER], 1, threshold=0.5).positions.tolist() == [0, 2]


def test_the_second_pass_does_not_run_the_prefilter_again():
    engine, prefilter = ScriptedEngine(first_probability=0.3), ScriptedPrefilter(0.9, 0.1)
    found = find(engine, [WRONG, NEIGHBOUR, WRONG, NEIGHBOUR], 2, prefilter, threshold=0.5)
    assert found.positions.tolist() == [0, 1]
    assert (engine.read, prefilter.calls) == ([1, 1], 1)


def test_protected_windows_do_not_reach_the_prefilter():
    engine, prefilter = ScriptedEngine(first_probability=0.01), ScriptedPrefilter(0.9)
    assert find(engine, [WRONG, OTHER] * 2, 1, prefilter, threshold=0.5, fixed=(0, 1)).positions.tolist() == [
        2
    ]


@pytest.mark.parametrize(("unknown", "positions"), [(2.0, []), (0.96, []), (0.95, [1])])
def test_a_character_outside_the_vocabulary_needs_a_probability_of_its_own(unknown, positions):
    found = find(ScriptedEngine(0.3), [OTHER, UNKNOWN, OTHER, OTHER], 1, unknown=unknown)
    assert found.positions.tolist() == positions
