"""Replaced characters on dev pairs: correction F1 where a given share of clean sentences is changed.

The clean sentences were read where an earlier model would change them, so that few of them, and of its own
choice, decide where the threshold is. `weighed` judges without a given share: beside the pairs of each set,
as many sentences count in which annotators of the same kind of text found nothing.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.lab.data.prepared import PairArrays, Prepared
from readings import Reader

MACRO = ("native", "revisions", "lang8", "learners", "queries", "medical", "hard")
SIGHAN = ("sighan13_train", "sighan14_train", "sighan15_train")
ECSPELL = ("ecspell_law_train", "ecspell_med_train", "ecspell_odw_train")
CLEAN_SHARES = (0.004, 0.008, 0.015)
_RIGHT = {
    "lang8": ("learners_clean",), "learners": ("learners_clean",), "queries": ("queries_clean",),
    "medical": ("medical_clean",),
}  # fmt: skip
_RIGHT_ELSEWHERE = ("native_clean", "plain")
_LEAST = 0.01
_THRESHOLDS = np.concatenate((np.geomspace(_LEAST, 0.5, 40), 1 - np.geomspace(0.5, 0.01, 30)))


class Candidates(NamedTuple):
    """Possible replacements in some sentences: sentence, confidence and whether right, (candidates,) each."""

    sentence: NDArray[np.intp]
    confidence: NDArray[np.float32]
    right: NDArray[np.bool_]
    errors: NDArray[np.intp]  # (sentences,)

    def f1(self, threshold: float, false_alarms: float = 0.0) -> float:
        """Strict sentence-level correction F1 in percent, from this confidence on.

        false_alarms: the share changed of right sentences, of which as many as there are wrong ones count.
        """
        accepted = self.confidence >= threshold
        size = len(self.errors)
        right = np.bincount(self.sentence[accepted & self.right], minlength=size)
        wrong = np.bincount(self.sentence[accepted & ~self.right], minlength=size)
        changed = right + wrong > 0
        corrected = changed & (wrong == 0) & (right == self.errors)
        wrong_ones = int((self.errors > 0).sum())
        counted = int(changed.sum()) + wrong_ones * (1 + false_alarms)
        return 200 * float(corrected.sum()) / max(counted, 1)

    def changed(self, threshold: float) -> float:
        """The share of sentences that are changed, in percent."""
        return 100 * len(np.unique(self.sentence[self.confidence >= threshold])) / max(len(self.errors), 1)

    def threshold(self, share: float) -> float:
        """The confidence from which on at most this share of the sentences is changed."""
        highest = np.zeros(len(self.errors), np.float32)
        np.maximum.at(highest, self.sentence, self.confidence)
        allowed = int(share * len(self.errors))
        return float(np.sort(highest)[::-1][allowed]) + 1e-6


def candidates(reader: Reader, pairs: PairArrays) -> Candidates:
    """What the model would replace in the sources of some pairs of equal length."""
    texts = [pairs[number] for number in range(len(pairs))]
    sides = [[side[: reader.longest].astype(np.int32) for side in pair] for pair in texts]
    readings = reader.read([source for source, _ in sides])
    sentence, confidence, right = [], [], []
    for number, ((_, target), reading) in enumerate(zip(sides, readings, strict=True)):
        places = np.flatnonzero(reading.confidence >= _LEAST)
        sentence.append(np.full(len(places), number))
        confidence.append(reading.confidence[places])
        right.append(reading.other[places] == target[places])
    errors = np.array([(source != target).sum() for source, target in texts], dtype=np.intp)
    return Candidates(np.concatenate(sentence), np.concatenate(confidence), np.concatenate(right), errors)


class Readings(NamedTuple):
    """What a model would replace in the dev pairs of every set, and in clean sentences."""

    found: Mapping[str, Candidates]
    quiet: Candidates

    def at_shares(self) -> dict[str, dict[str, float]]:
        """For each of CLEAN_SHARES: F1 of every dev set, their means, and what is changed elsewhere."""
        return {
            f"{100 * share:.1f}%": _figures(self.found, self.quiet.threshold(share)) for share in CLEAN_SHARES
        }

    def weighed(self) -> dict[str, float]:
        """F1 of every set beside as many right sentences, and `chosen_by` of them, where that is highest."""
        judged = [_weighed(self.found, float(threshold)) for threshold in _THRESHOLDS]
        return max(judged, key=lambda figures: figures["chosen_by"])


def read(reader: Reader, prepared: Prepared, clean: Sequence[str]) -> Readings:
    """The dev pairs and the clean sentences, read once."""
    rows = reader.encode(clean)
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    flat = np.concatenate(rows).astype(np.uint16)
    names = (*MACRO, *SIGHAN, *ECSPELL, "revisions2", *_RIGHT_ELSEWHERE, *sum(_RIGHT.values(), ()))
    found = {name: candidates(reader, prepared.pairs(f"{name}_dev")) for name in dict.fromkeys(names)}
    return Readings(found, candidates(reader, PairArrays(flat, flat, starts)))


def _weighed(found: Mapping[str, Candidates], threshold: float) -> dict[str, float]:
    f1 = {}
    for name in (*MACRO, *SIGHAN, *ECSPELL, "revisions2"):
        right = _RIGHT.get(name, _RIGHT_ELSEWHERE)
        changed = sum(found[each].changed(threshold) * len(found[each].errors) for each in right)
        share = changed / max(sum(len(found[each].errors) for each in right), 1) / 100
        f1[name] = found[name].f1(threshold, share)
    means = {"macro": _mean(f1, MACRO), "sighan": _mean(f1, SIGHAN), "ecspell": _mean(f1, ECSPELL)}
    chosen_by = 0.6 * means["macro"] + 0.25 * means["sighan"] + 0.15 * means["ecspell"]
    figures = {"chosen_by": chosen_by, "threshold": threshold, **means, **f1}
    return {name: round(value, 4 if name == "threshold" else 2) for name, value in figures.items()}


def _figures(found: Mapping[str, Candidates], threshold: float) -> dict[str, float]:
    f1 = {name: found[name].f1(threshold) for name in (*MACRO, *SIGHAN, *ECSPELL, "revisions2")}
    figures = {
        "threshold": threshold,
        "macro": _mean(f1, MACRO),
        "sighan": _mean(f1, SIGHAN),
        "ecspell": _mean(f1, ECSPELL),
        **f1,
        "plain_changed": found["plain"].changed(threshold),
        "native_clean_changed": found["native_clean"].changed(threshold),
    }
    return {name: round(value, 4 if name == "threshold" else 2) for name, value in figures.items()}


def _mean(figures: Mapping[str, float], names: Sequence[str]) -> float:
    return sum(figures[name] for name in names) / len(names)
