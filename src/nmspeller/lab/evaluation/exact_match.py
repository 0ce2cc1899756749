"""Sentence-level exact match, for pairs whose sides differ in length: whole sentences are right or wrong."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nmspeller.lab.evaluation.metrics import percent

NAME = "sentence-level exact match"


@dataclass(frozen=True)
class ExactMatch:
    """Numbers of sentences, and percentages.

    corrected: of the wrong sentences, those wholly right afterwards; changed_right: of the changed ones,
    those that are right; changed_clean: of the right ones, those that were changed.
    """

    sentences: int
    wrong: int
    changed: int
    corrected: float
    changed_right: float
    changed_clean: float

    def as_dict(self) -> dict[str, Any]:
        """The JSON object of the command line."""
        return {"metric": NAME, **asdict(self)}


def exact_match(sources: Sequence[str], targets: Sequence[str], predictions: Sequence[str]) -> ExactMatch:
    """Compare whole sentences."""
    sentences = list(zip(sources, targets, predictions, strict=True))
    wrong = sum(source != target for source, target, _ in sentences)
    changed = sum(prediction != source for source, _, prediction in sentences)
    corrected = sum(source != target == prediction for source, target, prediction in sentences)
    false_alarms = sum(source == target != prediction for source, target, prediction in sentences)
    return ExactMatch(
        sentences=len(sentences),
        wrong=wrong,
        changed=changed,
        corrected=percent(corrected, wrong),
        changed_right=percent(corrected, changed),
        changed_clean=percent(false_alarms, len(sentences) - wrong),
    )
