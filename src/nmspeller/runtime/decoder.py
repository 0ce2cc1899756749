"""Decoding: from the model's scores to detections, the characters to replace, by what, how confidently.

Everything works on flat arrays over many texts at once; only detections are looked at one by one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.engine import Floats, Ids, Scores, TagScores
from nmspeller.runtime.policy import Thresholds

# A character must be this likely to be proposed; and one that is may become likelier when its neighbours are
# corrected.
_LIKELY = 0.1

Positions = NDArray[np.intp]
Explains = Callable[[Ids, Ids], NDArray[np.bool_]]


class ScoringEngine(Protocol):
    """What runs a model: `native.engine.NativeEngine`, `engine.OnnxEngine` or `torch_engine.TorchEngine`."""

    longest: int
    characters_per_batch: int

    @property
    def name(self) -> str: ...

    def scores(
        self,
        ids: Ids,
        starts: Positions,
        stops: Positions,
        max_source_probability: float = np.inf,
        min_tag_probability: float = np.inf,
        few: bool = False,
    ) -> Iterator[Scores]:
        """Score the windows `ids[start:stop]`.

        Only positions are told whose source character has at most `max_source_probability`, and only places
        with a tag of at least `min_tag_probability`. few: whether such windows are few as a rule, those that
        are read again; an engine may read them in smaller batches.
        """


class Windows(NamedTuple):
    """Bounds of disjoint windows in a flat array of ids, (windows,) each; see `nmspeller.runtime.reading`."""

    starts: Positions
    stops: Positions
    keep_starts: Positions
    keep_stops: Positions

    def subset(self, chosen: NDArray[np.bool_] | Positions) -> "Windows":
        return Windows._make(bounds[chosen] for bounds in self)

    def contain(self, positions: Positions) -> NDArray[np.bool_]:
        """Which windows contain any of the positions, which are in order: (windows,)."""
        inside: NDArray[np.bool_] = np.searchsorted(positions, self.starts) < np.searchsorted(
            positions, self.stops
        )
        return inside

    def kept(self, length: int) -> NDArray[np.bool_]:
        """Which characters of the flat array the windows keep: (length,)."""
        edges = np.zeros(length + 1, np.int32)
        np.add.at(edges, self.keep_starts, 1)
        np.add.at(edges, self.keep_stops, -1)
        return np.cumsum(edges[:-1]) > 0


class WindowPrefilter(Protocol):
    """What reads everything before the model does: `prefilter.Prefilter`."""

    def select(self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows, threshold: float) -> Windows: ...


class Detections(NamedTuple):
    """Characters to replace, in the order of their positions; the candidates are best first."""

    positions: Positions  # (detections,) into the flat array
    targets: Ids  # (detections,)
    probabilities: Floats  # (detections,) of the targets
    source_probabilities: Floats  # (detections,) of the source characters
    candidates: Ids  # (detections, 5)
    candidate_probabilities: Floats  # (detections, 5)
    originals: Ids  # (detections,) the source characters

    def subset(self, chosen: NDArray[np.bool_] | Positions) -> "Detections":
        return Detections._make(values[chosen] for values in self)

    def in_order(self) -> "Detections":
        return self.subset(np.argsort(self.positions, kind="stable"))

    @classmethod
    def join(cls, parts: "list[Detections]") -> "Detections":
        if not parts:
            ids, floats = np.zeros((0, 5), np.int32), np.zeros((0, 5), np.float32)
            return cls(np.zeros(0, np.intp), ids[:, 0], floats[:, 0], floats[:, 0], ids, floats, ids[:, 0])
        return cls._make(np.concatenate(values) for values in zip(*parts, strict=True))


def confidence(probability: Floats, source_probabilities: Floats) -> Floats:
    """How confident a replacement is, from 0 to 1; of any shape.

    probability: of the target. source_probabilities: of the source character. What is left for third
    characters speaks against the target, but not for the source: where a text is right, the model wavers
    between the source and one other character. The power is the one that best told errors from the
    characters of clean sentences, on dev pairs.
    """
    other = probability.astype(np.float64) ** 4
    return np.asarray(other / np.maximum(other + source_probabilities, 1e-12), np.float32)


@dataclass(frozen=True)
class Decoder:
    """Runs windows through the engine and decides what to replace.

    `replaceable` (vocabulary,) marks the ids that may be replaced, Chinese characters, and `targets` those
    that may replace them, which are Simplified; `unknown` is the id of [UNK], which may be replaced as well,
    by a threshold of its own; `explains` says of pairs of ids whether similar sound or shape explains the
    error; where there is a `prefilter`, only windows whose error score reaches its threshold are run.
    """

    engine: ScoringEngine
    replaceable: NDArray[np.bool_]
    targets: NDArray[np.bool_]
    unknown: int
    explains: Explains
    prefilter: WindowPrefilter | None = None

    def find(
        self,
        ids: Ids,
        allowed: NDArray[np.bool_],
        in_names: NDArray[np.bool_],
        windows: Windows,
        thresholds: Thresholds,
        passes: int,
        few: bool = False,
    ) -> tuple[Detections, TagScores]:
        """All detections in what the windows keep; only positions that are `allowed` may be replaced.

        Where a position may be `in_names`, similarity explains nothing: 张琳 and 张林 are two people.

        And the tags of the first reading that reach the lowest threshold of the tags. Their places, and
        the starts of their windows instead of the windows' numbers, are those in the flat array.

        Errors in the context that a window does not keep are corrected before it is read again, then dropped.

        few: as for the engine; windows of later passes always are.
        """
        allowed = allowed & (self.replaceable[ids] | ((ids == self.unknown) & (thresholds.unknown <= 1)))
        allowed_before = np.concatenate(([0], np.cumsum(allowed)))
        windows = windows.subset(allowed_before[windows.keep_stops] > allowed_before[windows.keep_starts])
        kept = windows.kept(len(ids))
        if self.prefilter is not None and thresholds.prefilter > 0:
            windows = self.prefilter.select(ids, allowed & kept, windows, thresholds.prefilter)
        found, unsure, tags = self._read(ids, allowed, in_names, windows, thresholds, few)
        for _ in range(1, passes):
            # The text is read again as corrected so far; what was found stays found. Where nothing was found,
            # or nothing else was uncertain, a second pass would give the same.
            windows = windows.subset(windows.contain(found.positions) & windows.contain(unsure.positions))
            if not len(windows.starts):
                break
            corrected, still_allowed = ids.copy(), allowed.copy()
            corrected[found.positions] = found.targets
            still_allowed[found.positions] = False
            more, unsure, _tags = self._read(
                corrected, still_allowed, in_names, windows, thresholds, few=True
            )
            if not len(more.positions):
                break
            found = Detections.join([found, more]).in_order()
        return found.subset(kept[found.positions]), tags

    def _read(
        self,
        ids: Ids,
        allowed: NDArray[np.bool_],
        in_names: NDArray[np.bool_],
        windows: Windows,
        thresholds: Thresholds,
        few: bool,
    ) -> tuple[Detections, Detections, TagScores]:
        """What the thresholds accept, what they do not, and the tags."""
        found, tags = self._candidates(ids, allowed, windows, thresholds.lowest_tag, few)
        confidences = confidence(found.probabilities, found.source_probabilities)
        sure = confidences >= thresholds.unexplained
        likely = np.flatnonzero(~sure & (confidences >= thresholds.explained) & ~in_names[found.positions])
        unknown = found.originals == self.unknown
        sure[unknown] = found.probabilities[unknown] >= thresholds.unknown
        likely = likely[~unknown[likely]]
        if len(likely):
            sure[likely] = self.explains(found.originals[likely], found.targets[likely])
        return found.subset(sure), found.subset(~sure), tags

    def _candidates(
        self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows, lowest_tag: float, few: bool
    ) -> tuple[Detections, TagScores]:
        """The best other character of every position where it is likely enough, and the tags."""
        # Where the source character is likelier than this, no other can be likely enough.
        most = 1 - _LIKELY + 1e-3
        found: list[Detections] = []
        tags: list[TagScores] = []
        for scores in self.engine.scores(ids, windows.starts, windows.stops, most, lowest_tag, few):
            found.append(self._candidates_among(scores, ids, allowed))
            first = windows.starts[scores.tags.windows]
            tags.append(scores.tags._replace(windows=first, places=first + scores.tags.places))
        return Detections.join(found).in_order(), TagScores.join(tags)

    def _candidates_among(self, scores: Scores, ids: Ids, allowed: NDArray[np.bool_]) -> Detections:
        """The same of some positions."""
        replaceable = allowed[scores.positions]
        positions = scores.positions[replaceable]
        candidates, probabilities = scores.best[replaceable], scores.probabilities[replaceable]
        possible = self.targets[candidates] & (candidates != ids[positions][:, None])
        first = possible.argmax(axis=1)[:, None]
        targets = np.take_along_axis(candidates, first, axis=1)[:, 0]
        probability = np.take_along_axis(probabilities, first, axis=1)[:, 0]
        chosen = possible.any(axis=1) & (probability >= _LIKELY)
        source_probabilities, originals = scores.source_probabilities[replaceable], ids[positions]
        everything = Detections(
            positions, targets, probability, source_probabilities, candidates, probabilities, originals
        )
        return everything.subset(chosen)
