"""Choosing the levels' thresholds on pairs that no training saw, and telling how far probabilities hold.

Of every position the best other character is taken with its confidence, whether sound or shape explains it,
and whether it is right; any thresholds can then be judged without reading the texts again. Each level is the
best by its own measure of sentence-level correction, in a text where one sentence in twenty is wrong, among
the thresholds that change few enough correct sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.data.pairs import Pair
from nmspeller.lab.export.text_parts import TextParts, answers
from nmspeller.runtime.decoder import confidence
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import Level, Policy, Thresholds

# Certainties are dense at either end.
_GRID = (1 / (1 + np.exp(-np.arange(-5, 7.01, 0.2)))).round(4).tolist()

# A second pass doubles the time of a text with errors: it must gain half a point of F1.
_WORTH_A_SECOND_PASS = 0.005


# Evaluation sets are half wrong, texts that people check are not: there, false alarms count for more.
_WRONG_SHARE = 1 / 20


class Aim(NamedTuple):
    """What a level is after: the F measure's beta, and the largest share of clean sentences it may change."""

    beta: float
    false_alarms: float


AIMS = {
    Level.CAREFUL: Aim(0.5, 0.001),
    Level.BALANCED: Aim(1.0, 0.008),
    Level.THOROUGH: Aim(2.0, 1.0),
}
# The probability that replaces a character outside the vocabulary. Of 47 errors in such characters in the dev
# sets 4, 15 and 16 are corrected and none is changed wrongly; of 173 right ones 0, 2 and 6 are changed.
UNKNOWN = {Level.CAREFUL: 0.999, Level.BALANCED: 0.98, Level.THOROUGH: 0.95}


@dataclass(frozen=True)
class ScoredCandidates:
    """The best other character of every position of some pairs, where it has a probability worth a look."""

    sentence: NDArray[np.intp]  # (candidates,) which pair
    window: NDArray[np.intp]  # (candidates,) which window, counted through all pairs
    probability: NDArray[np.float32]  # (candidates,)
    source_probabilities: NDArray[np.float32]  # (candidates,) of the source characters
    explained: NDArray[np.bool_]  # (candidates,)
    right: NDArray[np.bool_]  # (candidates,)
    errors: NDArray[np.intp]  # (pairs,) how many characters are wrong

    @cached_property
    def confidence(self) -> NDArray[np.float32]:
        """Of each that it must be replaced: (candidates,)."""
        return confidence(self.probability, self.source_probabilities)

    def accepted(self, thresholds: Thresholds) -> NDArray[np.bool_]:
        """Which of them those thresholds let through: (candidates,)."""
        needed = np.where(self.explained, thresholds.explained, thresholds.unexplained)
        return np.asarray(self.confidence >= needed)

    def outcome(self, accepted: NDArray[np.bool_]) -> "Outcome":
        """What is changed and what corrected if just these, (candidates,), are let through."""
        pairs = len(self.errors)
        right = np.bincount(self.sentence[accepted & self.right], minlength=pairs)
        wrong = np.bincount(self.sentence[accepted & ~self.right], minlength=pairs)
        changed = (right + wrong) > 0
        return Outcome(changed, changed & (wrong == 0) & (right == self.errors))

    def measure(self, thresholds: Thresholds) -> "Counts":
        """What those thresholds give."""
        changed, corrected = self.outcome(self.accepted(thresholds))
        clean = self.errors == 0
        return Counts(
            int(corrected.sum()), int(changed.sum()), int((~clean).sum()),
            int((changed & clean).sum()), int(clean.sum()),
        )  # fmt: skip


class Outcome(NamedTuple):
    """Which sentences are changed, and which of them just as they should be, (pairs,) each."""

    changed: NDArray[np.bool_]
    corrected: NDArray[np.bool_]


class Counts(NamedTuple):
    """Sentences: corrected, changed, wrong at first, clean but changed, clean at first."""

    corrected: int
    changed: int
    wrong: int
    false_alarms: int
    clean: int

    def f(self, beta: float, wrong_share: float | None = None) -> float:
        """The F measure of correction, from 0 to 1.

        wrong_share: the clean sentences are weighted so that this share of all is wrong.
        """
        changed = float(self.changed)
        if wrong_share is not None and self.clean:
            each_clean = (1 / wrong_share - 1) * self.wrong / self.clean
            changed += (each_clean - 1) * self.false_alarms
        weight = beta * beta
        return (1 + weight) * self.corrected / max(changed + weight * self.wrong, 1e-9)

    def as_dict(self) -> dict[str, float]:
        """Percentages for a report: of the wrong sentences, of the clean ones, and of a text of both."""
        return {
            "changed_wrong": round(100 * (self.changed - self.false_alarms) / max(self.wrong, 1), 2),
            "corrected_wrong": round(100 * self.corrected / max(self.wrong, 1), 2),
            "changed_clean": round(100 * self.false_alarms / max(self.clean, 1), 3),
            "f0.5": round(100 * self.f(0.5, _WRONG_SHARE), 2),
            "f1": round(100 * self.f(1.0, _WRONG_SHARE), 2),
        }


def candidates(pipeline: Pipeline, pairs: Sequence[Pair]) -> ScoredCandidates:
    """Read the pairs' sources and compare what could be replaced with their targets.

    Raises:
        InputError: there are no pairs.
    """
    if not pairs:
        raise InputError("there are no pairs to calibrate on; give a file of source<TAB>target lines.")
    errors = np.array([sum(map(str.__ne__, source, target)) for source, target in pairs], dtype=np.intp)
    parts: list[tuple[NDArray[Any], ...]] = []
    first_window = 0
    targets = [pipeline.vocabulary.encode(pair.target) for pair in pairs]
    read = TextParts((pair.source for pair in pairs), pipeline.window)
    for batch, found in pipeline.detect(read.parts, Thresholds(0.0, 0.0), 1):
        number, offsets = read.places(batch, found.positions)
        window = np.searchsorted(batch.windows.starts, found.positions, side="right") - 1
        explained = pipeline.explains(found.originals, found.targets) & ~batch.in_names[found.positions]
        wanted = [targets[text][offset] for text, offset in zip(number, offsets, strict=True)]
        right = np.array(wanted, np.int32) == found.targets
        parts.append(
            (
                number,
                first_window + window,
                found.probabilities,
                found.source_probabilities,
                explained,
                right,
            )
        )
        first_window += len(batch.windows.starts)
    sentence, window, probability, source_probabilities, explained, right = map(
        np.concatenate, zip(*parts, strict=True)
    )
    return ScoredCandidates(sentence, window, probability, source_probabilities, explained, right, errors)


def choose(found: ScoredCandidates) -> dict[Level, Thresholds]:
    """The best thresholds of each level; a stricter level never accepts what a laxer one refuses."""
    judged = [
        (thresholds, found.measure(thresholds))
        for thresholds in (Thresholds(low, high) for low in _GRID for high in _GRID if high >= low)
    ]
    chosen: dict[Level, Thresholds] = {}
    for level, aim in AIMS.items():
        quiet = [
            (counts.f(aim.beta, _WRONG_SHARE), thresholds)
            for thresholds, counts in judged
            if counts.false_alarms <= aim.false_alarms * counts.clean
        ]
        # Where nothing is quiet enough, the quietest; where several are equally good, the strictest.
        strictest = Thresholds(_GRID[-1], _GRID[-1])
        _, chosen[level] = max(
            quiet,
            default=(0.0, strictest),
            key=lambda each: (each[0], each[1].explained, each[1].unexplained),
        )
    balanced = chosen[Level.BALANCED]
    for level, pick in ((Level.CAREFUL, max), (Level.THOROUGH, min)):
        thresholds = chosen[level]
        chosen[level] = Thresholds(
            pick(thresholds.explained, balanced.explained), pick(thresholds.unexplained, balanced.unexplained)
        )
    return chosen


def calibrate(
    pipeline: Pipeline, dev: Sequence[Pair], clean: Sequence[str] = (), others: Sequence[Pair] = ()
) -> Policy:
    """The pipeline's policy with thresholds and number of passes chosen on `dev` and `clean` sentences.

    Corpora of pairs leave errors unmarked, so where there are clean sentences, those stand for all correct
    ones, and the pairs of `dev` without an error are left out.

    others: pairs of other kinds, which count as much as `dev` does where the number of passes is chosen:
        a second pass gains where errors stand close together, as in learners' sentences.
    """
    if clean:
        dev = [pair for pair in dev if pair.source != pair.target]
    pairs = [*dev, *(Pair(text, text) for text in clean)] if dev else []
    found = candidates(pipeline, pairs)
    levels = choose(found)
    balanced = levels[Level.BALANCED]
    by_passes = [_f1_by_passes(pipeline, pairs, found, balanced)]
    if others:
        by_passes.append(_f1_by_passes(pipeline, others, candidates(pipeline, others), balanced))
    once, twice = np.mean(by_passes, axis=0)
    passes = 2 if twice - once >= _WORTH_A_SECOND_PASS else 1
    report = {
        "pairs": len(dev),
        "clean_sentences": len(clean),
        "other_pairs": len(others),
        "f1_by_passes": [[round(100 * f1, 2) for f1 in each] for each in by_passes],
        "levels": {level.value: found.measure(each).as_dict() for level, each in levels.items()},
    }
    # The thresholds of tags are chosen on pairs of another kind, see `tag_thresholds`.
    levels = {
        level: replace(
            pipeline.policy.levels[level],
            explained=each.explained,
            unexplained=each.unexplained,
            unknown=UNKNOWN[level],
        )
        for level, each in levels.items()
    }
    return replace(pipeline.policy, levels=levels, passes=passes, calibration=report)


def _f1_by_passes(
    pipeline: Pipeline, pairs: Sequence[Pair], once: ScoredCandidates, thresholds: Thresholds
) -> tuple[float, float]:
    """Sentence-level correction F1 after one pass, and after two.

    Only what a first pass changes is read again.
    """
    changed = np.unique(once.sentence[once.accepted(thresholds)]).tolist()
    read_twice = answers(pipeline, [pairs[number].source for number in changed], thresholds, 2)
    corrected = sum(map(str.__eq__, read_twice, (pairs[number].target for number in changed)))
    wrong = int((once.errors > 0).sum())
    return once.measure(thresholds).f(1.0), 2 * corrected / max(len(changed) + wrong, 1)
