"""Choosing the prefilter's thresholds by what they would lose on dev pairs."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.lab.data.pairs import Pair
from nmspeller.lab.export.text_parts import TextParts
from nmspeller.lab.export.thresholds import ScoredCandidates, candidates
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import Level, Thresholds
from nmspeller.runtime.prefilter import PrefilterThresholds, highest_scores

# A small speller's thresholds are densest near 0, where most sentences lie.
_THRESHOLDS = [float(f"{threshold:.3g}") for threshold in 1 / (1 + np.exp(-np.arange(-9, 6.01, 0.1)))]

# The largest share of the sentences in which a level finds anything that a prefilter may keep from the model.
_LOST = 0.005


class PrefilterScores(NamedTuple):
    """What the prefilter says of some texts, a window at a time."""

    text: NDArray[np.intp]  # (windows,)
    error_score: NDArray[np.float32]  # (windows,)

    def read(self, threshold: float) -> NDArray[np.bool_]:
        """Which windows are handed to the model: (windows,)."""
        return np.asarray(self.error_score >= threshold)


def prefilter_scores(pipeline: Pipeline, texts: Sequence[str]) -> PrefilterScores:
    """Prefilter over the texts; their windows are counted as those of `candidates` are."""
    parts: list[tuple[NDArray[Any], ...]] = []
    read = TextParts(texts, pipeline.window)
    for batch, error_scores in pipeline.prefilter_scores(read.parts):
        texts_of_windows = read.places(batch, batch.windows.starts).texts
        parts.append((texts_of_windows, highest_scores(error_scores, batch.windows)))
    return PrefilterScores(*map(np.concatenate, zip(*parts, strict=True)))


def error_scores_of_detections(
    dev: ScoredCandidates, prefiltered: PrefilterScores, thresholds: Thresholds
) -> NDArray[np.float32]:
    """Of each pair in which the thresholds find anything, the least suspicious window with a finding.

    A prefilter threshold above it loses the pair. (pairs with findings,)
    """
    accepted = dev.accepted(thresholds)
    least = np.full(len(dev.errors), np.inf, np.float32)
    np.minimum.at(least, dev.sentence[accepted], prefiltered.error_score[dev.window[accepted]])
    return least[np.isfinite(least)]


def choose_thresholds(error_score: Mapping[Level, NDArray[np.float32]]) -> dict[Level, float]:
    """The highest prefilter threshold of each level, from strict to lax, that loses few enough sentences.

    error_score: of each level, what `error_scores_of_detections` gives. A laxer level, which finds more,
    never has the higher threshold; where a level finds nothing, everything is read.
    """
    chosen: dict[Level, float] = {}
    highest = 1.0
    for level in Level:
        least = error_score[level]
        fine = [
            threshold
            for threshold in _THRESHOLDS
            if threshold <= highest and len(least) and (least < threshold).mean() <= _LOST
        ]
        highest = chosen[level] = max(fine, default=0.0)
    return chosen


def calibrate_prefilter(
    pipeline: Pipeline, dev: Sequence[Pair], clean: Sequence[str] = ()
) -> PrefilterThresholds:
    """The prefilter's thresholds, chosen on `dev`; the report covers `clean` too.

    Raises:
        InputError: there are no pairs.
    """
    on_dev, prefiltered = candidates(pipeline, dev), prefilter_scores(pipeline, [pair.source for pair in dev])
    on_clean = prefilter_scores(pipeline, clean) if clean else None
    error_score = {
        level: error_scores_of_detections(on_dev, prefiltered, thresholds)
        for level, thresholds in pipeline.policy.levels.items()
    }
    chosen, report = choose_thresholds(error_score), {}
    for level, threshold in chosen.items():
        report[level.value] = {
            "lost": _percent(error_score[level] < threshold),
            "read": _percent(prefiltered.read(threshold)),
        }
        if on_clean is not None:
            read = np.bincount(on_clean.text[on_clean.read(threshold)], minlength=len(clean)) > 0
            report[level.value]["clean_read"] = _percent(read)
    return PrefilterThresholds(chosen, {"pairs": len(dev), "clean_sentences": len(clean), "levels": report})


def _percent(marks: NDArray[np.bool_]) -> float:
    return round(100 * float(marks.mean()), 2) if len(marks) else 0.0
