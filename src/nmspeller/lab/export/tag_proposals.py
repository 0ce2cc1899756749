"""Thresholds of tags that are worth a try, from the scores of the edits that were found in dev pairs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

KINDS = ("repeated", "foreign", "missing", "swapped")
"""Characters that are extra and repeat their neighbours, others that are extra, missing and swapped ones."""
TARGETS = ("edits_native_word", "edits_revisions")
"""The dev sets on which thresholds are chosen."""
NEVER = 2.0
_MOST_CLEAN = 0.0015  # the share of clean sentences that all kinds together may change
_PRECISIONS = np.arange(0.80, 0.995, 0.01).round(2).tolist()


class ScoredEdit(NamedTuple):
    """An edit: in which sentence, of which of KINDS, how sure, and whether right."""

    sentence: int
    kind: str
    score: float
    right: bool


@dataclass(frozen=True)
class FoundEdits:
    """All edits that were found in dev pairs, and in so many clean sentences."""

    edits: Sequence[ScoredEdit]
    clean_edits: Sequence[ScoredEdit]
    clean_sentences: int

    def proposals(self) -> list[dict[str, float]]:
        """Thresholds of all kinds for each of several shares of right edits, from lax to strict.

        Few clean sentences may be changed; which kind changes them is decided by what it makes right.
        """
        proposed = (self._best_split(share) for share in _PRECISIONS)
        return [dict(each) for each in dict.fromkeys(tuple(each.items()) for each in proposed)]

    def _best_split(self, precision: float) -> dict[str, float]:
        allowed = int(_MOST_CLEAN * self.clean_sentences)
        lowest = {kind: [self._lowest(kind, precision, few) for few in range(allowed + 1)] for kind in KINDS}
        splits = (split for split in product(range(allowed + 1), repeat=len(KINDS)) if sum(split) <= allowed)
        chosen = [[lowest[kind][few] for kind, few in zip(KINDS, split, strict=True)] for split in splits]
        best = max(chosen, key=lambda ends: sum(end.right for end in ends))
        return {kind: end.score for kind, end in zip(KINDS, best, strict=True)}

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


class _Lowest(NamedTuple):
    """A threshold, and how many edits it makes right."""

    score: float
    right: int
