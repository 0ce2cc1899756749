"""The decoding policy of a model: three levels with their thresholds, in `policy.json`."""

import json
import math
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from nmspeller.errors import InputError
from nmspeller.files import reason, write_whole
from nmspeller.messages import _
from nmspeller.runtime.choice import Choice
from nmspeller.runtime.evidence import EvidenceWeights

FORMAT = "nmspeller policy 2"
TAGGED = ("repeated", "foreign", "missing", "swapped")
"""What tags lead to: extra characters that repeat their neighbours, others, missing and swapped ones."""
LEAST_TAG = 0.1
"""The least probability of a tag that is worth another reading; of lower ones few lead to an edit."""


class Level(Choice):
    """How confident the speller must be before it proposes an edit; the strictest comes first."""

    CAREFUL = "careful"
    BALANCED = "balanced"
    THOROUGH = "thorough"


@dataclass(frozen=True)
class Thresholds:
    """The lowest confidence of an accepted replacement; see `decoder.confidence`.

    `explained` applies if the two characters sound or look similar, `unexplained` if only the context
    supports the edit, and in what may be a given name; a value above 1 means never. `unknown` is the lowest
    probability of a replacement for a Chinese character outside the vocabulary, of which the model knows only
    the context. `prefilter` is the lowest error score of a sentence that the model reads; 0, the value of
    every policy, reads everything.
    `repeated` and `foreign` apply to characters that the model finds extra, by whether they repeat their
    neighbours, `missing` to what it fills in, and `swapped` to two neighbours that change places; see
    `tag_decoder` and `evidence`.
    """

    explained: float
    unexplained: float
    unknown: float = 2.0
    prefilter: float = 0.0
    repeated: float = 2.0
    foreign: float = 2.0
    missing: float = 2.0
    swapped: float = 2.0

    @property
    def lowest_tag(self) -> float:
        """The least probability of a tag that may lead to an edit; above 1 if none does."""
        return LEAST_TAG if min(getattr(self, kind) for kind in TAGGED) <= 1 else 2.0

    def __post_init__(self) -> None:
        for one in fields(self):
            least = getattr(self, one.name)
            if isinstance(least, bool) or not isinstance(least, float | int):
                raise TypeError(f"{one.name} is {least!r}, not a confidence")
            if not (math.isfinite(least) and least >= 0):  # with NaN, nothing would ever be found
                raise ValueError(f"{one.name} is {least!r}, not a confidence")


@dataclass(frozen=True)
class Policy:
    """How a model's scores are decoded.

    `window` is how many characters the model reads at once, `passes` how often a sentence is read: the second
    time with the first edits applied. `calibration` records the data that the thresholds were chosen on, and
    the results there. `sha256` has the hash of each file of the model, by name (see `verified`). `evidence`
    has the weights of the evidence for each kind of TAGGED that some were fitted for.

    Raises:
        ValueError: a level accepts what a less strict one does not.
    """

    levels: dict[Level, Thresholds]
    window: int = 126  # the longest rows in the shipped model's training data
    passes: int = 1
    calibration: dict[str, Any] = field(default_factory=dict)
    sha256: dict[str, str] = field(default_factory=dict)
    evidence: dict[str, EvidenceWeights] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for strict, lax in pairwise(self.levels[level] for level in Level):
            for name in _of_policy(strict):
                if getattr(strict, name) < getattr(lax, name):
                    raise ValueError(f"{name} is lower at a stricter level")

    @classmethod
    def uncalibrated(cls) -> "Policy":
        """Default thresholds for a model without calibration."""
        return cls(
            {
                Level.CAREFUL: Thresholds(0.9, 0.98),
                Level.BALANCED: Thresholds(0.6, 0.8),
                Level.THOROUGH: Thresholds(0.05, 0.1),
            }
        )

    @classmethod
    def read(cls, path: Path) -> "Policy":
        """Read a policy.json.

        Raises:
            InputError: the file is missing or is no policy.
        """
        try:
            content = json.loads(path.read_text("utf-8"))
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r}")
            levels = {level: Thresholds(**content["levels"][level.value]) for level in Level}
            window, passes = int(content["window"]), int(content["passes"])
            if window < 1 or passes < 1:
                raise ValueError("its window and its passes must be 1 or more")
            hashes = content.get("sha256", {})
            if not all(isinstance(digits, str) for digits in hashes.values()):
                raise ValueError("a hash is a string")
            evidence = {kind: EvidenceWeights(**each) for kind, each in content.get("evidence", {}).items()}
            if unknown := evidence.keys() - set(TAGGED):
                raise ValueError(f"there is no evidence for {', '.join(sorted(unknown))}")
            return cls(levels, window, passes, content["calibration"], hashes, evidence)
        except OSError as error:
            raise InputError(
                _("cannot read {path} ({reason}); a model folder needs its policy.json.").format(
                    path=path, reason=reason(error)
                )
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise InputError(
                _("{path} is not a policy ({problem}); export the model again.").format(
                    path=path, problem=error
                )
            ) from error

    def write(self, path: Path) -> None:
        """Write a policy.json."""
        content = {
            "format": FORMAT,
            "window": self.window,
            "passes": self.passes,
            "sha256": self.sha256,
            "levels": {level.value: _of_policy(least) for level, least in self.levels.items()},
            "evidence": {kind: asdict(weights) for kind, weights in self.evidence.items()},
            "calibration": self.calibration,
        }
        write_whole(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def _of_policy(thresholds: Thresholds) -> dict[str, float]:
    """The thresholds that policy.json has; the prefilter's own is in a file beside it."""
    return {name: least for name, least in asdict(thresholds).items() if name != "prefilter"}
