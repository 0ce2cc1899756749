"""Choosing how doubtful a glance must be, by what it keeps from the model on pairs that no training saw."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.data.pairs import Pair
from nmspeller.runtime.glance import Doubts
from nmspeller.runtime.policy import Level, Thresholds
from nmspeller.runtime.reader import Reader
from nmspeller.runtime.thresholds import Candidates, candidates

# A small speller's doubts are densest near 0, where most windows lie.
_GLANCES = [float(f"{doubt:.3g}") for doubt in 1 / (1 + np.exp(-np.arange(-9, 6.01, 0.1)))]

# The largest share of the sentences in which a level finds anything that a glance may keep from the model.
_LOST = 0.005


class Glances(NamedTuple):
    """What the glance says of some sentences, a window at a time."""

    sentence: NDArray[np.intp]  # (windows,)
    suspicion: NDArray[np.float32]  # (windows,)

    def read(self, threshold: float) -> NDArray[np.bool_]:
        """Which windows are handed to the model: (windows,)."""
        return np.asarray(self.suspicion >= threshold)


def glances(reader: Reader, sentences: Sequence[str]) -> Glances:
    """Glance over the sentences; their windows are counted as those of `candidates` are."""
    parts: list[tuple[NDArray[Any], ...]] = []
    first = 0
    for passage, suspicion in reader.glance_over(sentences):
        number = np.searchsorted(passage.offsets, passage.windows.keep_starts, side="right") - 1
        parts.append((first + number, suspicion))
        first += len(passage.texts)
    return Glances(*map(np.concatenate, zip(*parts, strict=True)))


def suspicion_of_findings(dev: Candidates, glanced: Glances, thresholds: Thresholds) -> NDArray[np.float32]:
    """Of each sentence in which the thresholds find anything, the least suspicious window with a finding.

    A glance threshold above it loses the sentence. (sentences with findings,)
    """
    accepted = dev.accepted(thresholds)
    least = np.full(len(dev.errors), np.inf, np.float32)
    np.minimum.at(least, dev.sentence[accepted], glanced.suspicion[dev.window[accepted]])
    return least[np.isfinite(least)]


def choose_glances(suspicion: Mapping[Level, NDArray[np.float32]]) -> dict[Level, float]:
    """The highest glance threshold of each level, from strict to lax, that loses few enough sentences.

    suspicion: of each level, what `suspicion_of_findings` gives. A laxer level, which finds more, never has
    the higher threshold; and where a level finds nothing, there is nothing to go by: everything is read.
    """
    chosen: dict[Level, float] = {}
    highest = 1.0
    for level in Level:
        least = suspicion[level]
        fine = [
            threshold
            for threshold in _GLANCES
            if threshold <= highest and len(least) and (least < threshold).mean() <= _LOST
        ]
        highest = chosen[level] = max(fine, default=0.0)
    return chosen


def calibrate_glance(reader: Reader, dev: Sequence[Pair], clean: Sequence[str] = ()) -> Doubts:
    """How doubtful a quick reader's glance must be, chosen on `dev`; the report tells of `clean` too.

    Raises:
        InputError: there are no pairs.
    """
    on_dev, glanced = candidates(reader, dev), glances(reader, [pair.source for pair in dev])
    on_clean = glances(reader, clean) if clean else None
    suspicion = {
        level: suspicion_of_findings(on_dev, glanced, thresholds)
        for level, thresholds in reader.policy.levels.items()
    }
    chosen, report = choose_glances(suspicion), {}
    for level, threshold in chosen.items():
        report[level.value] = {
            "lost": _percent(suspicion[level] < threshold),
            "read": _percent(glanced.read(threshold)),
        }
        if on_clean is not None:
            read = np.bincount(on_clean.sentence[on_clean.read(threshold)], minlength=len(clean)) > 0
            report[level.value]["clean_read"] = _percent(read)
    return Doubts(chosen, {"pairs": len(dev), "clean_sentences": len(clean), "levels": report})


def _percent(marks: NDArray[np.bool_]) -> float:
    return round(100 * float(marks.mean()), 2) if len(marks) else 0.0
