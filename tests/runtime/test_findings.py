"""A second reading happens where it can change something, and only there."""

import numpy as np
import pytest

from nmspeller.runtime.engine import Scores
from nmspeller.runtime.findings import Finder, Findings, Windows, certainty
from nmspeller.runtime.policy import Thresholds

WRONG, RIGHT, NEIGHBOUR, BETTER, OTHER = range(5)


class ScriptedEngine:
    """Says that WRONG should be RIGHT, and that NEIGHBOUR should be BETTER once RIGHT stands before it."""

    longest, passage = 100, 1000

    def __init__(self, doubt_at_first: float) -> None:
        self.doubt_at_first = doubt_at_first
        self.read: list[int] = []

    def scores(self, ids, starts, stops, doubt=np.inf):
        self.read.append(len(starts))
        for window, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            for place in range(start, stop):
                target, probability = self.opinion(ids, place)
                if 1 - probability <= doubt:
                    yield Scores(
                        np.array([window]),
                        np.array([place]),
                        np.array([[target, ids[place], OTHER, OTHER, OTHER]], np.int32),
                        np.array([[probability, 1 - probability, 0, 0, 0]], np.float32),
                        np.array([1 - probability], np.float32),
                    )

    def opinion(self, ids, place):
        if ids[place] == WRONG:
            return RIGHT, 0.95
        if ids[place] == NEIGHBOUR:
            return BETTER, 0.95 if ids[place - 1] == RIGHT else self.doubt_at_first
        return OTHER, 0.001


def find(engine: ScriptedEngine, ids: list[int], passes: int) -> Findings:
    finder = Finder(engine, np.ones(5, np.bool_), lambda originals, _: np.ones(len(originals), np.bool_))
    halves = np.array([0, len(ids) // 2]), np.array([len(ids) // 2, len(ids)])
    everything = np.array(ids, np.int32)
    return finder.find(
        everything, np.ones(len(ids), np.bool_), Windows(*halves, *halves), Thresholds(0.8, 0.8), passes
    )


@pytest.mark.parametrize(("passes", "positions"), [(1, [0]), (2, [0, 1])])
def test_what_was_in_doubt_is_read_again_beside_its_corrected_neighbour(passes, positions):
    engine = ScriptedEngine(doubt_at_first=0.3)
    found = find(engine, [WRONG, NEIGHBOUR, OTHER, NEIGHBOUR], passes)
    assert found.positions.tolist() == positions
    assert found.targets.tolist() == [RIGHT, BETTER][:passes]
    # The second window holds doubt as well, but nothing in it was corrected.
    assert engine.read == [2, 1][:passes]


def test_third_characters_do_not_speak_for_the_one_that_stands_there():
    def sure(probability, kept):
        return float(certainty(np.float32(probability), np.float32(kept)))

    assert sure(0.7, 0.02) > sure(0.85, 0.15)
    assert sure(0.7, 0.02) < sure(0.98, 0.02)
    assert sure(0.1, 0.0) == 1.0
    assert sure(0.0, 0.0) == 0.0


def test_a_second_reading_may_find_nothing():
    engine = ScriptedEngine(doubt_at_first=0.3)
    found = find(engine, [WRONG, OTHER, NEIGHBOUR, OTHER, OTHER, OTHER, OTHER, OTHER], passes=2)
    assert found.positions.tolist() == [0]
    assert engine.read == [2, 1]


def test_where_nothing_else_was_in_doubt_nothing_is_read_again():
    engine = ScriptedEngine(doubt_at_first=0.01)
    assert find(engine, [WRONG, NEIGHBOUR, OTHER, OTHER], passes=2).positions.tolist() == [0]
    assert engine.read == [2]
