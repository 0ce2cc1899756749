"""How sure an insertion or a deletion is: what the model says before it, in its gap and after it, weighed."""

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

# A probability that rounds to 0 or 1 is no proof: its log-odds stay finite.
_LEAST = 0.001
_ROUNDING = 1e-6


class Evidence(NamedTuple):
    """Probabilities that speak for an edit.

    tag: of the tag in the text as it is. filled: of what is filled in; needed: that it is not extra there.
    In the text with the edit made, target: of the new characters, the least; before, behind: of their
    neighbours; settled: that nothing beside them is extra or missing.
    """

    tag: float
    filled: float = 1.0
    needed: float = 1.0
    target: float = 1.0
    before: float = 1.0
    behind: float = 1.0
    settled: float = 1.0

    def log_odds(self) -> list[float]:
        """Of each of them, within bounds."""
        return [_log_odds(probability) for probability in self]


def _log_odds(probability: float) -> float:
    within = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(within / (1 - within))


@dataclass(frozen=True)
class EvidenceWeights:
    """What each probability counts, and how likely an edit is without any: a logistic regression.

    The default takes the tag's word for it.
    """

    bias: float = 0.0
    tag: float = 1.0
    filled: float = 0.0
    needed: float = 0.0
    target: float = 0.0
    before: float = 0.0
    behind: float = 0.0
    settled: float = 0.0

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, bool) or not isinstance(value, float | int):
                raise TypeError(f"the weight of {one.name} is {value!r}, not a number")
            if not math.isfinite(value):
                raise ValueError(f"the weight of {one.name} is {value!r}, not a number")

    def least_tag(self, confidence: float) -> float:
        """The tag without which no edit is so sure, whatever else speaks for it; above 1 if none is."""
        if confidence > 1:
            return 2.0
        others = sum(abs(getattr(self, name)) for name in Evidence._fields if name != "tag")
        needed = _log_odds(confidence) - self.bias - others * _log_odds(1.0)
        if self.tag <= 0 or needed <= self.tag * _log_odds(0.0):
            return 0.0
        if needed > self.tag * _log_odds(1.0) + _ROUNDING:
            return 2.0
        return 0.5 + 0.5 * math.tanh(needed / self.tag / 2) - _ROUNDING

    def confidence(self, evidence: Evidence) -> float:
        """The probability that an edit is right."""
        weights = (getattr(self, name) for name in Evidence._fields)
        total = self.bias + sum(
            weight * odds for weight, odds in zip(weights, evidence.log_odds(), strict=True)
        )
        return 0.5 + 0.5 * math.tanh(total / 2)
