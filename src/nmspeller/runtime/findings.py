"""From scores to findings: which characters to replace, by what, and how sure the model is.

Everything here works on flat arrays over many texts at once; only what is found is ever looked at singly.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.engine import Engine, Floats, Ids, Scores
from nmspeller.runtime.policy import Thresholds

Positions = NDArray[np.intp]
Explains = Callable[[Ids, Ids], NDArray[np.bool_]]


class Windows(NamedTuple):
    """Bounds of windows in a flat array of ids, (windows,) each; see `nmspeller.text.windows.Window`."""

    starts: Positions
    stops: Positions
    keep_starts: Positions
    keep_stops: Positions

    def subset(self, chosen: NDArray[np.bool_]) -> "Windows":
        return Windows._make(bounds[chosen] for bounds in self)


class Findings(NamedTuple):
    """Characters to replace, in the order of their positions; the candidates are best first."""

    positions: Positions  # (findings,) into the flat array
    targets: Ids  # (findings,)
    probabilities: Floats  # (findings,) of the targets
    candidates: Ids  # (findings, 5)
    candidate_probabilities: Floats  # (findings, 5)
    originals: Ids  # (findings,) what stands there

    def subset(self, chosen: NDArray[np.bool_] | Positions) -> "Findings":
        return Findings._make(values[chosen] for values in self)

    def in_order(self) -> "Findings":
        return self.subset(np.argsort(self.positions, kind="stable"))

    @classmethod
    def join(cls, parts: "list[Findings]") -> "Findings":
        if not parts:
            ids, floats = np.zeros(0, np.int32), np.zeros(0, np.float32)
            return cls(np.zeros(0, np.intp), ids, floats, ids[:, None], floats[:, None], ids)
        return cls._make(np.concatenate(values) for values in zip(*parts, strict=True))


@dataclass(frozen=True)
class Finder:
    """Reads windows through the engine and finds what to replace.

    `replaceable` (vocabulary,) marks the ids that may be replaced and may replace: Chinese characters;
    `explains` says of pairs of ids whether ear or eye explains that one was written for the other.
    """

    engine: Engine
    replaceable: NDArray[np.bool_]
    explains: Explains

    def find(
        self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows, thresholds: Thresholds, passes: int
    ) -> Findings:
        """All findings in `ids`; only positions that are `allowed` may be replaced."""
        allowed = allowed & self.replaceable[ids]
        allowed_before = np.concatenate(([0], np.cumsum(allowed)))
        windows = windows.subset(allowed_before[windows.keep_stops] > allowed_before[windows.keep_starts])
        found = self._read(ids, allowed, windows, thresholds)
        for _ in range(1, passes):
            if not len(found.positions):
                break
            # The text is read again as corrected so far; what was found stays found.
            corrected, still_allowed = ids.copy(), allowed.copy()
            corrected[found.positions] = found.targets
            still_allowed[found.positions] = False
            first_inside = np.searchsorted(found.positions, windows.starts)
            changed = first_inside < np.searchsorted(found.positions, windows.stops)
            more = self._read(corrected, still_allowed, windows.subset(changed), thresholds)
            if not len(more.positions):
                break
            found = Findings.join([found, more]).in_order()
        return found

    def _read(
        self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows, thresholds: Thresholds
    ) -> Findings:
        parts = []
        floor = min(thresholds.explained, thresholds.unexplained)
        for scores in self.engine.scores(ids, windows.starts, windows.stops):
            found = self._candidates(scores, ids, allowed, windows, floor)
            sure = found.probabilities >= thresholds.unexplained
            likely = np.flatnonzero(~sure & (found.probabilities >= thresholds.explained))
            if len(likely):
                sure[likely] = self.explains(found.originals[likely], found.targets[likely])
            if sure.any():
                parts.append(found.subset(sure))
        return Findings.join(parts).in_order()

    def _candidates(
        self, scores: Scores, ids: Ids, allowed: NDArray[np.bool_], windows: Windows, floor: float
    ) -> Findings:
        """The best other character of every position where it has at least the probability `floor`."""
        where = scores.where
        keep_starts, keep_stops = windows.keep_starts[scores.windows], windows.keep_stops[scores.windows]
        open_to_doubt = (
            # A character that is nearly certain leaves no room for another; most positions end here.
            (scores.kept <= 1 - floor + 1e-3)
            & (where >= keep_starts[:, None])
            & (where < keep_stops[:, None])
            & allowed[where]
        )
        positions = where[open_to_doubt]
        candidates, probabilities = scores.best[open_to_doubt], scores.probabilities[open_to_doubt]
        possible = self.replaceable[candidates] & (candidates != ids[positions][:, None])
        first = possible.argmax(axis=1)[:, None]
        targets = np.take_along_axis(candidates, first, axis=1)[:, 0]
        probability = np.take_along_axis(probabilities, first, axis=1)[:, 0]
        chosen = possible.any(axis=1) & (probability >= floor)
        everything = Findings(positions, targets, probability, candidates, probabilities, ids[positions])
        return everything.subset(chosen)
