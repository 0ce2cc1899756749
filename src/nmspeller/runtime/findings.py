"""From scores to findings: which characters to replace, by what, and how sure the model is.

Everything here works on flat arrays over many texts at once; only what is found is ever looked at singly.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.engine import Floats, Ids, Scores
from nmspeller.runtime.policy import Thresholds

# Another character that is this likely may become likelier when its neighbours are corrected.
_UNSURE = 0.1

# How far, in log-odds, a probability may be from its threshold for the decision to be close: about twice the
# deviation that arithmetic in bytes has where there is doubt.
_CLOSE = 0.35

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

    def of(self, positions: Positions) -> Positions:
        """The window that keeps what is found at each position: (positions,)."""
        found: Positions = np.searchsorted(self.keep_stops, positions, side="right")
        return found

    def hold(self, positions: Positions) -> NDArray[np.bool_]:
        """Which windows hold any of the positions, which are in order: (windows,)."""
        inside: NDArray[np.bool_] = np.searchsorted(positions, self.starts) < np.searchsorted(
            positions, self.stops
        )
        return inside


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
            ids, floats = np.zeros((0, 5), np.int32), np.zeros((0, 5), np.float32)
            return cls(np.zeros(0, np.intp), ids[:, 0], floats[:, 0], ids, floats, ids[:, 0])
        return cls._make(np.concatenate(values) for values in zip(*parts, strict=True))


@dataclass(frozen=True)
class Finder:
    """Reads windows through the engine and finds what to replace.

    `replaceable` (vocabulary,) marks the ids that may be replaced and may replace: Chinese characters;
    `explains` says of pairs of ids whether ear or eye explains that one was written for the other. `close`
    gives an engine that is more exact, to decide where the decision is close.
    """

    engine: AnyEngine
    replaceable: NDArray[np.bool_]
    explains: Explains
    close: Callable[[], AnyEngine] | None = None

    def find(
        self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows, thresholds: Thresholds, passes: int
    ) -> Findings:
        """All findings in `ids`; only positions that are `allowed` may be replaced."""
        allowed = allowed & self.replaceable[ids]
        allowed_before = np.concatenate(([0], np.cumsum(allowed)))
        windows = windows.subset(allowed_before[windows.keep_stops] > allowed_before[windows.keep_starts])
        found, unsure = self._read(ids, allowed, windows, thresholds, last=passes == 1)
        for number in range(2, passes + 1):
            # The text is read again as corrected so far; what was found stays found. Where nothing was found,
            # or nothing else was in doubt, a second reading would say the same.
            windows = windows.subset(windows.hold(found.positions) & windows.hold(unsure))
            if not len(windows.starts):
                break
            corrected, still_allowed = ids.copy(), allowed.copy()
            corrected[found.positions] = found.targets
            still_allowed[found.positions] = False
            more, unsure = self._read(corrected, still_allowed, windows, thresholds, last=number == passes)
            if not len(more.positions):
                break
            found = Findings.join([found, more]).in_order()
        return found

    def _read(
        self,
        ids: Ids,
        allowed: NDArray[np.bool_],
        windows: Windows,
        thresholds: Thresholds,
        *,
        last: bool,
    ) -> tuple[Findings, Positions]:
        """What the thresholds accept, and the positions, in order, where another character is possible.

        After the last reading nobody asks for the latter, so only those near a threshold are looked for.
        """
        needed = thresholds.explained, thresholds.unexplained
        floor = min(*needed, 1.0 if last else _UNSURE)
        if self.close:
            floor = min(floor, _shifted(min(needed), -_CLOSE))
        found = self._candidates(self.engine, ids, allowed, windows, floor)
        if self.close:
            holders = windows.of(found.positions)
            again = np.unique(holders[_near(found.probabilities, needed)])
            if len(again):
                closely = self._candidates(self.close(), ids, allowed, windows.subset(again), floor)
                found = Findings.join([found.subset(~np.isin(holders, again)), closely]).in_order()
        sure = found.probabilities >= thresholds.unexplained
        likely = np.flatnonzero(~sure & (found.probabilities >= thresholds.explained))
        if len(likely):
            sure[likely] = self.explains(found.originals[likely], found.targets[likely])
        return found.subset(sure), found.positions[~sure]

    def _candidates(
        self, engine: AnyEngine, ids: Ids, allowed: NDArray[np.bool_], windows: Windows, floor: float
    ) -> Findings:
        """The best other character of every position where it has at least the probability `floor`."""
        # Where the character that stands there is likelier than this, no other reaches the floor.
        doubt = 1 - floor + 1e-3
        return Findings.join(
            [
                self._candidates_among(scores, ids, allowed, windows, floor)
                for scores in engine.scores(ids, windows.starts, windows.stops, doubt)
            ]
        ).in_order()

    def _candidates_among(
        self, scores: Scores, ids: Ids, allowed: NDArray[np.bool_], windows: Windows, floor: float
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
        chosen = possible.any(axis=1) & (probability >= floor)
        everything = Findings(positions, targets, probability, candidates, probabilities, ids[positions])
        return everything.subset(chosen)


def _near(probabilities: Floats, thresholds: tuple[float, ...]) -> NDArray[np.bool_]:
    """Which of them are so near to a threshold that arithmetic in bytes may be on the wrong side of it."""
    near = np.zeros(len(probabilities), np.bool_)
    for threshold in thresholds:
        low, high = _shifted(threshold, -_CLOSE), _shifted(threshold, _CLOSE)
        near |= (probabilities >= low) & (probabilities <= high)
    return near


def _shifted(probability: float, log_odds: float) -> float:
    """A probability moved by so much on the scale of log-odds; one that is never reached stays so."""
    if probability >= 1:
        return probability
    odds = probability / (1 - probability) * math.exp(log_odds)
    return odds / (1 + odds)
