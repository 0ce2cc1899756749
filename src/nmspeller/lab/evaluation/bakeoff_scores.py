"""The official scores of the bake-offs, under the names that their tools print.

Their precision follows the loose convention: a sentence with mistakes that was changed wrongly is a
false negative, not a false positive. Scores are exact fractions; a score over no sentences is 0.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

from nmspeller.errors import InputError
from nmspeller.lab.data.bakeoff import Answer

Answers = Mapping[str, Answer]
Names = tuple[str, ...]


@dataclass(frozen=True)
class Evaluation:
    """`figures` by name, and the ids of the sentences they count in `details`."""

    figures: dict[str, Fraction]
    details: dict[str, Names]


def evaluate_sighan13(truth: Answers, result: Answers) -> Evaluation:
    """SIGHAN 2013: sub-task 2 where every sentence has mistakes with their corrections, otherwise sub-task 1.

    Raises:
        InputError: the result contains sentences that the truth does not.
    """
    second = all(mistakes and all(each.character for each in mistakes) for mistakes in truth.values())
    return (evaluate_sighan13_subtask2 if second else evaluate_sighan13_subtask1)(truth, result)


def evaluate_sighan13_subtask1(truth: Answers, result: Answers) -> Evaluation:
    """SIGHAN 2013, sub-task 1: which sentences have mistakes, and where.

    Raises:
        InputError: the result contains sentences that the truth does not.
    """
    result = _complete(truth, result)
    wrong = tuple(name for name in truth if truth[name])
    clean = tuple(name for name in truth if not truth[name])
    found = tuple(name for name in truth if result[name])
    false = tuple(name for name in found if not truth[name])
    detected = tuple(name for name in found if truth[name])
    right = tuple(name for name in truth if bool(truth[name]) == bool(result[name]))
    located = tuple(name for name in truth if _positions(truth[name]) == _positions(result[name]))
    located_wrong = tuple(name for name in located if truth[name])
    return Evaluation(
        {
            "False-Alarm Rate": _share(false, clean),
            "Detection Accuracy": _share(right, truth),
            **_level("Detection", "F-Score", detected, found, wrong),
            "Error Location Accuracy": _share(located, truth),
            **_level("Error Location", "F-Score", located_wrong, found, wrong),
        },
        {
            "all testing sentences": tuple(truth),
            "testing sentences with errors": wrong,
            "testing sentences without errors": clean,
            "sentences the system return as with errors": found,
            "sentences with false positive error detection results": false,
            "sentences with correctly error detected results": detected,
            "sentences with correctly detected results": right,
            "sentences with correct location detection": located,
            "sentences with correct error locations": located_wrong,
        },
    )


def evaluate_sighan13_subtask2(truth: Answers, result: Answers) -> Evaluation:
    """SIGHAN 2013, sub-task 2: where the mistakes are, and the corrections; every sentence has one.

    Raises:
        InputError: the result contains sentences that the truth does not.
    """
    result = _complete(truth, result)
    found = tuple(name for name in truth if result[name])
    located = tuple(name for name in truth if _positions(truth[name]) == _positions(result[name]))
    corrected = tuple(name for name in truth if set(truth[name]) == set(result[name]))
    return Evaluation(
        {
            "Location Accuracy": _share(located, truth),
            "Correction Accuracy": _share(corrected, truth),
            "Correction Precision": _share(corrected, found),
        },
        {
            "all testing sentences": tuple(truth),
            "sentences the system returns corrections": found,
            "sentences correctly detected the error location": located,
            "sentences correctly corrected the error": corrected,
        },
    )


def evaluate_sighan15(truth: Answers, result: Answers) -> Evaluation:
    """CLP 2014 and SIGHAN 2015: detection and correction of whole sentences.

    Raises:
        InputError: the result contains sentences that the truth does not.
    """
    result = _complete(truth, result)
    false = tuple(name for name in truth if not truth[name] and result[name])
    left = tuple(name for name in truth if not truth[name] and not result[name])
    wrong = tuple(name for name in truth if truth[name])
    detected = tuple(name for name in wrong if _positions(truth[name]) == _positions(result[name]))
    corrected = tuple(name for name in wrong if set(truth[name]) == set(result[name]))
    figures = {"False Positive Rate": _share(false, false + left)}
    details: dict[str, Names] = {}
    for level, hits in (("Detection Level", detected), ("Correction Level", corrected)):
        missed = tuple(name for name in wrong if name not in hits)
        figures[f"{level} Accuracy"] = _share(hits + left, truth)
        figures |= _level(level, "F1-Score", hits, hits + false, wrong)
        details |= {f"{level} TP": hits, f"{level} FP": false, f"{level} TN": left, f"{level} FN": missed}
    return Evaluation(figures, details)


OFFICIAL = {"sighan13": evaluate_sighan13, "clp14": evaluate_sighan15, "sighan15": evaluate_sighan15}
"""The evaluation of each bake-off."""


def _complete(truth: Answers, result: Answers) -> Answers:
    unknown = sorted(result.keys() - truth.keys())
    if unknown:
        raise InputError(
            f"the result answers {unknown[0]}, which is not in the truth; compare results of the same test."
        )
    # The official tools count a sentence without an answer as unchanged.
    return {name: result.get(name, ()) for name in truth}


def _positions(answer: Answer) -> set[int]:
    return {mistake.position for mistake in answer}


def _share(part: Collection[str], whole: Collection[str]) -> Fraction:
    return Fraction(len(part), len(whole)) if whole else Fraction(0)


def _level(name: str, f_name: str, hits: Names, found: Names, wrong: Names) -> dict[str, Fraction]:
    precision, recall = _share(hits, found), _share(hits, wrong)
    both = precision + recall
    return {
        f"{name} Precision": precision,
        f"{name} Recall": recall,
        f"{name} {f_name}": 2 * precision * recall / both if both else Fraction(0),
    }
