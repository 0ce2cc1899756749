"""The same windows are scored once, whatever is wanted of them."""

from pathlib import Path

import numpy as np

from nmspeller.lab.export.remembering_engine import RememberingEngine
from nmspeller.runtime.decoder import ScoringEngine
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import Level
from nmspeller.runtime.reading import Part

TEXT = "我门去外国可以认识很多的人。"


class Counting:
    """An engine that counts its calls."""

    def __init__(self, engine: ScoringEngine) -> None:
        self.name, self.longest = engine.name, engine.longest
        self.characters_per_batch = engine.characters_per_batch
        self.engine, self.calls = engine, 0

    def scores(self, *arguments):
        self.calls += 1
        return self.engine.scores(*arguments)


def test_levels_read_a_text_once_and_find_what_they_would_find(model_folder: Path) -> None:
    part = Part(TEXT, 0, len(TEXT), ())
    plain, remembering = (Pipeline(model_folder, threads=1) for _ in range(2))
    counting = []

    def wrap(engine: ScoringEngine) -> RememberingEngine:
        counting.append(Counting(engine))
        return RememberingEngine(counting[-1])

    remembering.wrap_engine(wrap)
    for _ in range(2):
        for level in Level:
            assert remembering.read([part], level) == plain.read([part], level)
    after_one = counting[0].calls
    # A second pass depends on what the first one found at a level; no pass is made twice.
    assert 1 <= after_one <= 1 + len(Level)


def test_other_windows_are_other_scores() -> None:
    class Engine:
        name, longest, characters_per_batch = "an engine of a test", 10, 100

        def scores(self, ids, starts, stops, most, least, few):
            yield float(ids.sum()), most, least

    engine = RememberingEngine(Engine())
    ids, bounds = np.array([1, 2, 3], np.int32), (np.array([0]), np.array([3]))
    assert list(engine.scores(ids, *bounds, 0.9, 0.5)) == [(6.0, 0.9, 0.1)]
    assert list(engine.scores(ids + 1, *bounds, 0.9, 0.5)) == [(9.0, 0.9, 0.1)]
    assert list(engine.scores(ids, *bounds, 0.8, 0.0)) == [(6.0, 0.8, 0.0)]
