"""What the model says before and after an edit is weighed."""

import math

import numpy as np
import pytest

from nmspeller.runtime.evidence import Evidence, EvidenceWeights


@pytest.mark.parametrize("tag", [0.1, 0.5, 0.93])
def test_without_weights_the_tag_decides(tag: float) -> None:
    assert EvidenceWeights().confidence(Evidence(tag, filled=0.4, settled=0.6)) == pytest.approx(tag)


def test_each_probability_counts_by_its_weight() -> None:
    weights = EvidenceWeights(bias=-1.0, tag=0.5, filled=0.25)
    total = -1 + 0.5 * math.log(0.8 / 0.2) + 0.25 * math.log(0.9 / 0.1)
    found = weights.confidence(Evidence(0.8, filled=0.9, before=0.01))
    assert found == pytest.approx(1 / (1 + math.exp(-total)))


def test_certain_probabilities_stay_finite() -> None:
    weights = EvidenceWeights(tag=100.0, filled=100.0, settled=100.0)
    assert weights.confidence(Evidence(0.0, filled=0.0, settled=0.0)) == 0
    assert weights.confidence(Evidence(1.0)) == 1


@pytest.mark.parametrize(("weight", "error"), [(math.nan, ValueError), ("1", TypeError), (True, TypeError)])
def test_a_weight_is_a_number(weight: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="the weight of filled"):
        EvidenceWeights(filled=weight)  # type: ignore[arg-type]


@pytest.mark.parametrize("confidence", [0.05, 0.5, 0.9, 0.96, 0.999])
@pytest.mark.parametrize(
    "weights",
    [
        EvidenceWeights(),
        EvidenceWeights(bias=-2.7, tag=0.66, before=0.38, settled=0.31),
        EvidenceWeights(bias=-6.6, tag=0.22, filled=0.4, needed=0.24, before=0.17, behind=0.46, settled=0.17),
    ],
)
def test_an_edit_with_a_lesser_tag_is_never_so_sure(weights, confidence):
    least = weights.least_tag(confidence)
    for tag in np.linspace(0, 1, 401):
        if weights.confidence(Evidence(float(tag))) >= confidence:
            assert tag >= least
    if least <= 1:
        assert weights.confidence(Evidence(least + 1e-4)) >= confidence
    assert weights.least_tag(2.0) > 1
