"""An engine that reads the same texts once, for choosing and measuring thresholds."""

import hashlib
from collections.abc import Iterator

import numpy as np

from nmspeller.runtime.decoder import Positions, ScoringEngine
from nmspeller.runtime.engine import Ids, Scores
from nmspeller.runtime.policy import LEAST_TAG


class RememberingEngine:
    """Scores a batch of windows once: whatever the thresholds, the first pass over a text is the same."""

    def __init__(self, engine: ScoringEngine) -> None:
        self._engine = engine
        self._scores: dict[bytes, list[Scores]] = {}
        self.name = engine.name
        self.longest, self.characters_per_batch = engine.longest, engine.characters_per_batch

    def scores(
        self,
        ids: Ids,
        starts: Positions,
        stops: Positions,
        max_source_probability: float = np.inf,
        min_tag_probability: float = np.inf,
        few: bool = False,
    ) -> Iterator[Scores]:
        """As the engine scores them, perhaps with more tags: whoever wants fewer passes over the others."""
        least = min(min_tag_probability, LEAST_TAG)
        bounds = np.array([max_source_probability, least, few])
        key = hashlib.sha256(b"".join(array.tobytes() for array in (ids, starts, stops, bounds))).digest()
        if key not in self._scores:
            scores = self._engine.scores(ids, starts, stops, max_source_probability, least, few)
            self._scores[key] = list(scores)
        return iter(self._scores[key])
