"""Precision, recall and F1 of detection and correction, by sentence and by character.

Sentence level is ReaLiSe's definition, which the paper follows. A sentence counts as found by the
speller when anything in it was changed. It is detected when exactly the wrong positions were changed,
corrected when they also got the right characters. Precision is over the sentences that were changed,
recall over those that have an error.

The loose convention (pycorrector's) differs in precision alone: a sentence that has an error and was
changed wrongly is not a false positive, only a clean sentence that was changed is. Its figures are
higher, and not to be compared with the others.

Character level counts edits: a right position with a wrong character is both a false positive and a miss.

SIGHAN13 leaves most misuses of 的地得 unmarked. With `drop_de`, edits to 地 and 得 are taken out of the
reference and the prediction alike before anything is counted. ReaLiSe's script takes them out of the
prediction alone, and the recalls that the paper prints are shares of the 971 sentences that are wrong
before 地 and 得 are dropped from the reference, not of the 965 after; `drop_de="prediction"` counts so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.data.alignment import laid_out

DropDe = bool | Literal["prediction"]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Percentages:
    """Of one task, of characters or of sentences."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def from_counts(cls, hits: float, found: float, wrong: float) -> "Percentages":
        """From the true positives, the predicted positives and the actual positives."""
        precision, recall = percent(hits, found), percent(hits, wrong)
        return cls(precision, recall, f1(hits, found, wrong))


@dataclass(frozen=True)
class Task:
    """Detection (where) and correction (where and what)."""

    detection: Percentages
    correction: Percentages


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What happened in each sentence: arrays of shape (sentences,). Every score is a ratio of their sums."""

    wrong: Counts  # edits in the reference
    found: Counts  # edits of the speller
    located: Counts  # edits of the speller at a position of the reference
    right: Counts  # edits of the speller that equal the reference's

    @cached_property
    def erroneous(self) -> Flags:
        """The sentence has an error."""
        return self.wrong > 0

    @cached_property
    def changed(self) -> Flags:
        """The speller changed the sentence."""
        return self.found > 0

    @cached_property
    def located_exactly(self) -> Flags:
        """The positions changed are those of the reference; also true where there are none."""
        exactly: Flags = (self.wrong == self.found) & (self.found == self.located)
        return exactly

    @cached_property
    def right_exactly(self) -> Flags:
        """The corrected sentence equals the reference."""
        exactly: Flags = (self.wrong == self.found) & (self.found == self.right)
        return exactly

    @cached_property
    def detected(self) -> Flags:
        """True positives of sentence-level detection."""
        return self.located_exactly & self.erroneous

    @cached_property
    def corrected(self) -> Flags:
        """True positives of sentence-level correction."""
        return self.right_exactly & self.erroneous

    def __len__(self) -> int:
        return len(self.wrong)


@dataclass(frozen=True)
class EvaluationScores:
    """Everything measured on one set, in percent; `as_dict` is what `nmspeller evaluate -o json` prints."""

    sentences: int
    changed_clean: float
    sentence: Task
    sentence_loose: Task
    character: Task
    detection_accuracy: float
    correction_accuracy: float
    outcomes: Outcomes

    def as_dict(self) -> dict[str, Any]:
        """The JSON object of the command line."""
        return {
            "sentences": self.sentences,
            "changed_clean": self.changed_clean,
            **{
                level: {
                    name: {"precision": task.precision, "recall": task.recall, "f1": task.f1}
                    for name, task in (("detection", tasks.detection), ("correction", tasks.correction))
                }
                for level, tasks in (
                    ("sentence", self.sentence),
                    ("sentence_loose", self.sentence_loose),
                    ("character", self.character),
                )
            },
        }


def evaluate(
    sources: Sequence[str], targets: Sequence[str], predictions: Sequence[str], *, drop_de: DropDe = False
) -> EvaluationScores:
    """Score predictions; source and target of a sentence are equally long.

    A prediction of another length is wrong, with an edit for each character extra or missing.

    Raises:
        InputError: the numbers of sentences, or the lengths of a source and its target, differ.
    """
    return score(compare(sources, targets, predictions, drop_de=drop_de))


def compare(
    sources: Sequence[str], targets: Sequence[str], predictions: Sequence[str], *, drop_de: DropDe = False
) -> Outcomes:
    """Count the edits of each sentence, as `evaluate` does."""
    _check_lengths(sources, targets, predictions)
    predictions = [laid_out(*each) for each in zip(sources, predictions, strict=True)]
    source, target, prediction = (_code_points(texts) for texts in (sources, targets, predictions))
    wrong, found = target != source, prediction != source
    if drop_de:
        de = np.array([ord("地"), ord("得")], dtype=np.uint32)
        found &= ~np.isin(prediction, de)
        if drop_de != "prediction":
            wrong &= ~np.isin(target, de)
    located = wrong & found
    right = located & (prediction == target)

    sentence = np.repeat(np.arange(len(sources)), [len(text) for text in sources])

    def per_sentence(edits: Flags) -> Counts:
        return np.bincount(sentence[edits], minlength=len(sources)).astype(np.int64)

    return Outcomes(per_sentence(wrong), per_sentence(found), per_sentence(located), per_sentence(right))


def score(outcomes: Outcomes) -> EvaluationScores:
    """The scores of outcomes."""
    erroneous, changed = int(outcomes.erroneous.sum()), int(outcomes.changed.sum())
    detected, corrected = int(outcomes.detected.sum()), int(outcomes.corrected.sum())
    false_alarms = int((outcomes.changed & ~outcomes.erroneous).sum())
    wrong, found = int(outcomes.wrong.sum()), int(outcomes.found.sum())
    return EvaluationScores(
        sentences=len(outcomes),
        changed_clean=percent(false_alarms, len(outcomes) - erroneous),
        sentence=Task(
            Percentages.from_counts(detected, changed, erroneous),
            Percentages.from_counts(corrected, changed, erroneous),
        ),
        sentence_loose=Task(
            Percentages.from_counts(detected, detected + false_alarms, erroneous),
            Percentages.from_counts(corrected, corrected + false_alarms, erroneous),
        ),
        character=Task(
            Percentages.from_counts(int(outcomes.located.sum()), found, wrong),
            Percentages.from_counts(int(outcomes.right.sum()), found, wrong),
        ),
        detection_accuracy=percent(int(outcomes.located_exactly.sum()), len(outcomes)),
        correction_accuracy=percent(int(outcomes.right_exactly.sum()), len(outcomes)),
        outcomes=outcomes,
    )


def percent(part: float, whole: float) -> float:
    """A share in percent; 0 where the whole is 0."""
    return 100.0 * part / whole if whole else 0.0


def f1(hits: float, found: float, wrong: float) -> float:
    """The harmonic mean of hits/found and hits/wrong in percent; 0 where there are no hits."""
    return percent(2 * hits, found + wrong)


def _check_lengths(sources: Sequence[str], targets: Sequence[str], predictions: Sequence[str]) -> None:
    if not len(sources) == len(targets) == len(predictions):
        raise InputError(
            f"{len(sources)} sources, {len(targets)} targets and {len(predictions)} predictions cannot be "
            "compared; give one of each for every sentence."
        )
    for number, (source, target) in enumerate(zip(sources, targets, strict=True), start=1):
        if len(source) != len(target):
            raise InputError(
                f"sentence {number}: source and target have {len(source)} and {len(target)} characters; they "
                "must be equally long."
            )


def _code_points(texts: Sequence[str]) -> NDArray[np.uint32]:
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32)
