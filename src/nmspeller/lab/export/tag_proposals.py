"""Thresholds of tags that are worth a try, from the scores of the edits that were found in dev pairs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from nmspeller.runtime.policy import TAGGED, Level

TARGETS = ("edits_native_word", "edits_revisions")
"""The dev sets on which thresholds are chosen."""
ERRORS = {"repeated": "extra", "foreign": "extra", "missing": "missing", "swapped": "swap"}
"""What an edit of each kind mends, as dev pairs call it."""
MOST_CLEAN = {Level.CAREFUL: 0.0004, Level.BALANCED: 0.0015, Level.THOROUGH: 0.005}
"""The share of clean sentences that all kinds of edits together may change."""
LEAST_SURE = {Level.CAREFUL: 0.9, Level.BALANCED: 0.7, Level.THOROUGH: 0.5}
"""No threshold is below this, even if nothing wrong was found: verse and dialects repeat more than news."""
BETA = {Level.CAREFUL: 0.25, Level.BALANCED: 0.5, Level.THOROUGH: 1.0}
"""What recall counts beside precision where one of several proposals is chosen."""
NEVER = 2.0
_PRECISIONS = np.arange(0.80, 0.995, 0.01).round(2).tolist()


class ScoredEdit(NamedTuple):
    """An edit: in which sentence, of which kind of TAGGED, how sure, and whether right."""

    sentence: int
    kind: str
    score: float
    right: bool


@dataclass(frozen=True)
class FoundEdits:
    """All edits that were found in dev pairs, with so many errors of ERRORS, and in some clean sentences."""

    edits: Sequence[ScoredEdit]
    clean_edits: Sequence[ScoredEdit]
    clean_sentences: int
    errors: Mapping[str, int]

    def proposals(self, most_clean: float) -> list[dict[str, float]]:
        """Thresholds of all kinds for each of several shares of right edits, from lax to strict.

        most_clean: the share of clean sentences that may be changed. Which kind changes them is decided by
        the share of its errors that it makes right: swaps are rare, but count as much as what is extra.
        """
        allowed = int(most_clean * self.clean_sentences)
        proposed = (self._best_split(share, allowed) for share in _PRECISIONS)
        return [dict(each) for each in dict.fromkeys(tuple(each.items()) for each in proposed)]

    def _best_split(self, precision: float, allowed: int) -> dict[str, float]:
        lowest = {kind: [self._lowest(kind, precision, few) for few in range(allowed + 1)] for kind in TAGGED}
        splits = (split for split in product(range(allowed + 1), repeat=len(TAGGED)) if sum(split) <= allowed)
        chosen = [[lowest[kind][few] for kind, few in zip(TAGGED, split, strict=True)] for split in splits]
        shares = [1 / max(self.errors.get(ERRORS[kind], 0), 1) for kind in TAGGED]
        best = max(
            chosen, key=lambda ends: sum(end.right * share for end, share in zip(ends, shares, strict=True))
        )
        return {kind: end.score for kind, end in zip(TAGGED, best, strict=True)}

    def _lowest(self, kind: str, precision: float, alarms: int) -> "_Lowest":
        """The lowest score from which on so many edits are right, and so few clean sentences changed."""
        scores: dict[int, float] = {}
        for edit in self.clean_edits:
            if edit.kind == kind:
                scores[edit.sentence] = max(edit.score, scores.get(edit.sentence, 0.0))
        too_low = max(sorted(scores.values(), reverse=True)[alarms:], default=0.0)
        lowest, right = _Lowest(NEVER, 0), 0
        own = sorted((edit for edit in self.edits if edit.kind == kind), key=lambda edit: -edit.score)
        for count, edit in enumerate(own, start=1):
            right += edit.right
            # Rounded down, so that the edit itself is still made.
            score = math.floor(10_000 * edit.score) / 10_000
            if right / count >= precision and score > too_low:
                lowest = _Lowest(score, right)
        return lowest


def f_score(figures: Mapping[str, float], beta: float) -> float:
    """Of the mean over the kinds of errors, and of the right ones among the changed sentences, in percent."""
    kinds = set(ERRORS.values())
    recall = sum(figures.get(kind, 0.0) for kind in kinds) / len(kinds)
    precision = figures["changed_right"]
    return (1 + beta**2) * precision * recall / max(beta**2 * precision + recall, 1e-9)


class _Lowest(NamedTuple):
    """A threshold, and how many edits it makes right."""

    score: float
    right: int
