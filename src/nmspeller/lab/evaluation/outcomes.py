"""What happened to each sentence of a test set, as one letter: small enough to keep for every run.

From the letters follow all sentence-level scores and the significance tests; neither the sentences nor the
predictions are needed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nmspeller.lab.evaluation import suites
from nmspeller.lab.evaluation.metrics import Outcomes, Percentages, Task, percent

UNCHANGED = "-"  # clean, and left as it was
FALSE_ALARM = "f"  # clean, but changed
MISSED = "m"  # erroneous, but left as it was
WRONG = "w"  # erroneous, changed at other positions
DETECTED = "d"  # erroneous, changed at the right positions to a wrong character
CORRECTED = "c"  # erroneous, corrected exactly

PAPER_SETS = ("sighan13", "sighan14", "sighan15")
DEV = "sighan_dev"
"""The dev parts of SIGHAN's training sets together: what may choose, where the paper chose on the tests."""
REFERENCE_KEPT = "sighan13_reference_kept"
"""SIGHAN13 with edits to 地 and 得 dropped from the prediction alone, as ReaLiSe's script counts."""


def letters(outcomes: Outcomes) -> str:
    """One letter a sentence."""
    found = np.where(outcomes.changed, FALSE_ALARM, UNCHANGED)
    found[outcomes.erroneous] = np.where(outcomes.changed, WRONG, MISSED)[outcomes.erroneous]
    found[outcomes.detected] = DETECTED
    found[outcomes.corrected] = CORRECTED
    return "".join(found.tolist())


def summary(predictions: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """`outcomes`, the letters of the paper's sets, and `counts`, the number of each letter in other sets."""
    found = {name: letters(suites.outcomes(name, answers)) for name, answers in predictions.items()}
    if "sighan13" in predictions:
        found[REFERENCE_KEPT] = letters(
            suites.outcomes("sighan13", predictions["sighan13"], drop_de="prediction")
        )
    return {
        "outcomes": {name: text for name, text in found.items() if name in PAPER_SETS},
        "counts": {name: dict(Counter(text)) for name, text in found.items() if name not in PAPER_SETS},
    }


def sentence_scores(counts: Mapping[str, int]) -> Task:
    """Sentence-level scores from how often each letter occurs."""
    corrected, detected = counts.get(CORRECTED, 0), counts.get(DETECTED, 0)
    changed = corrected + detected + counts.get(WRONG, 0)
    found, wrong = changed + counts.get(FALSE_ALARM, 0), changed + counts.get(MISSED, 0)
    return Task(
        Percentages.from_counts(corrected + detected, found, wrong),
        Percentages.from_counts(corrected, found, wrong),
    )


def changed_clean(counts: Mapping[str, int]) -> float:
    """The share of clean sentences that were changed, in percent."""
    changed = counts.get(FALSE_ALARM, 0)
    return percent(changed, changed + counts.get(UNCHANGED, 0))
