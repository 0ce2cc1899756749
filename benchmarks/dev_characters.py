"""Replaced characters on dev pairs: correction F1 where a given share of clean sentences is changed."""

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
_LEAST = 0.01


class Candidates(NamedTuple):
    """Possible replacements in some sentences: sentence, confidence and whether right, (candidates,) each."""

    sentence: NDArray[np.intp]
    confidence: NDArray[np.float32]
    right: NDArray[np.bool_]
    errors: NDArray[np.intp]  # (sentences,)

    def f1(self, threshold: float) -> float:
        """Strict sentence-level correction F1 in percent, from this confidence on."""
        accepted = self.confidence >= threshold
        size = len(self.errors)
        right = np.bincount(self.sentence[accepted & self.right], minlength=size)
        wrong = np.bincount(self.sentence[accepted & ~self.right], minlength=size)
        changed = right + wrong > 0
        corrected = changed & (wrong == 0) & (right == self.errors)
        return 200 * float(corrected.sum()) / max(int(changed.sum()) + int((self.errors > 0).sum()), 1)

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


def judge(reader: Reader, prepared: Prepared, clean: Sequence[str]) -> dict[str, dict[str, float]]:
    """Figures for each of CLEAN_SHARES: F1 of every dev set, their means, and what is changed elsewhere."""
    rows = reader.encode(clean)
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    flat = np.concatenate(rows).astype(np.uint16)
    quiet = candidates(reader, PairArrays(flat, flat, starts))
    names = (*MACRO, *SIGHAN, *ECSPELL, "revisions2", "plain", "native_clean")
    found = {name: candidates(reader, prepared.pairs(f"{name}_dev")) for name in names}
    return {f"{100 * share:.1f}%": _figures(found, quiet.threshold(share)) for share in CLEAN_SHARES}


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
