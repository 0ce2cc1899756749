"""From scores to findings: which characters to replace, by what, and how sure the model is.

Everything here works on flat arrays over many texts at once; only what is found is ever looked at singly.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.engine import Floats, Ids, Scores
from nmspeller.runtime.policy import Thresholds

# A character must be this likely to be proposed; and one that is may become likelier when its neighbours are
# corrected.
_LIKELY = 0.1

Positions = NDArray[np.intp]
Explains = Callable[[Ids, Ids], NDArray[np.bool_]]


class AnyEngine(Protocol):
    """What runs a model, on whatever device: `engine.Engine` or `torch_engine.TorchEngine`."""

    longest: int
    passage: int

    def scores(
        self, ids: Ids, starts: Positions, stops: Positions, doubt: float = np.inf
    ) -> Iterator[Scores]: ...


class Windows(NamedTuple):
    """Bounds of windows in a flat array of ids, (windows,) each; see `nmspeller.text.windows.Window`."""

    starts: Positions
    stops: Positions
    keep_starts: Positions
    keep_stops: Positions

    def subset(self, chosen: NDArray[np.bool_] | Positions) -> "Windows":
        return Windows._make(bounds[chosen] for bounds in self)

    def hold(self, positions: Positions) -> NDArray[np.bool_]:
        """Which windows hold any of the positions, which are in order: (windows,)."""
        inside: NDArray[np.bool_] = np.searchsorted(positions, self.starts) < np.searchsorted(
            positions, self.stops
        )
        return inside


class AnyGlance(Protocol):
    """What tells which windows are worth the model's time: `glance.Glance`."""

    def suspicion(self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows) -> Floats: ...


class Findings(NamedTuple):
    """Characters to replace, in the order of their positions; the candidates are best first."""

    positions: Positions  # (findings,) into the flat array
    targets: Ids  # (findings,)
    probabilities: Floats  # (findings,) of the targets
    kept: Floats  # (findings,) the probabilities of the originals
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
            ids, floats = np.zeros((0, 5), np.int32), np.zeros((0, 5), np.float32)
            return cls(np.zeros(0, np.intp), ids[:, 0], floats[:, 0], floats[:, 0], ids, floats, ids[:, 0])
        return cls._make(np.concatenate(values) for values in zip(*parts, strict=True))


def certainty(probability: Floats, kept: Floats) -> Floats:
    """How sure it is that a character is wrong and another one right, from 0 to 1; of any shape.

    probability: the other's. kept: that of the one that stands there. What is left for third characters
    speaks against the other one, but not for the one that stands there: where a text is right, the model
    wavers between that and one other. The power is the one that told best, on pairs that no training
    saw, wrong characters from those of clean sentences.
    """
    other = probability.astype(np.float64) ** 4
    return np.asarray(other / np.maximum(other + kept, 1e-12), np.float32)


@dataclass(frozen=True)
class Finder:
    """Reads windows through the engine and finds what to replace.

    `replaceable` (vocabulary,) marks the ids that may be replaced and may replace: Chinese characters;
    `explains` says of pairs of ids whether ear or eye explains that one was written for the other; where
    there is a `glance`, only windows that it doubts are read.
    """

    engine: AnyEngine
    replaceable: NDArray[np.bool_]
    explains: Explains
    glance: AnyGlance | None = None

    def find(
        self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows, thresholds: Thresholds, passes: int
    ) -> Findings:
        """All findings in `ids`; only positions that are `allowed` may be replaced."""
        allowed = allowed & self.replaceable[ids]
        allowed_before = np.concatenate(([0], np.cumsum(allowed)))
        windows = windows.subset(allowed_before[windows.keep_stops] > allowed_before[windows.keep_starts])
        if self.glance is not None and thresholds.glance > 0:
            windows = windows.subset(self.glance.suspicion(ids, allowed, windows) >= thresholds.glance)
        found, unsure = self._read(ids, allowed, windows, thresholds)
        for _ in range(1, passes):
            # The text is read again as corrected so far; what was found stays found. Where nothing was found,
            # or nothing else was in doubt, a second reading would say the same.
            windows = windows.subset(windows.hold(found.positions) & windows.hold(unsure))
            if not len(windows.starts):
                break
            corrected, still_allowed = ids.copy(), allowed.copy()
            corrected[found.positions] = found.targets
            still_allowed[found.positions] = False
            more, unsure = self._read(corrected, still_allowed, windows, thresholds)
            if not len(more.positions):
                break
            found = Findings.join([found, more]).in_order()
        return found

    def _read(
        self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows, thresholds: Thresholds
    ) -> tuple[Findings, Positions]:
        """What the thresholds accept, and the positions, in order, where another character is possible."""
        found = self._candidates(ids, allowed, windows)
        certainties = certainty(found.probabilities, found.kept)
        sure = certainties >= thresholds.unexplained
        likely = np.flatnonzero(~sure & (certainties >= thresholds.explained))
        if len(likely):
            sure[likely] = self.explains(found.originals[likely], found.targets[likely])
        return found.subset(sure), found.positions[~sure]

    def _candidates(self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows) -> Findings:
        """The best other character of every position where it is likely enough."""
        # Where the character that stands there is likelier than this, no other can be.
        doubt = 1 - _LIKELY + 1e-3
        return Findings.join(
            [
                self._candidates_among(scores, ids, allowed, windows)
                for scores in self.engine.scores(ids, windows.starts, windows.stops, doubt)
            ]
        ).in_order()

    def _candidates_among(
        self, scores: Scores, ids: Ids, allowed: NDArray[np.bool_], windows: Windows
    ) -> Findings:
        """The same of some positions."""
        at = scores.positions
        kept_here = (at >= windows.keep_starts[scores.windows]) & (at < windows.keep_stops[scores.windows])
        open_to_doubt = kept_here & allowed[at]
        positions = at[open_to_doubt]
        candidates, probabilities = scores.best[open_to_doubt], scores.probabilities[open_to_doubt]
        possible = self.replaceable[candidates] & (candidates != ids[positions][:, None])
        first = possible.argmax(axis=1)[:, None]
        targets = np.take_along_axis(candidates, first, axis=1)[:, 0]
        probability = np.take_along_axis(probabilities, first, axis=1)[:, 0]
        chosen = possible.any(axis=1) & (probability >= _LIKELY)
        kept, originals = scores.kept[open_to_doubt], ids[positions]
        everything = Findings(positions, targets, probability, kept, candidates, probabilities, originals)
        return everything.subset(chosen)
