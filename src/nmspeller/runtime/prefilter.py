"""The prefilter: a very small model that scores every window first, so that the model reads only some.

Most text is right. The prefilter cannot correct, but sees that nothing is wrong with most windows in a
fraction of the model's time. What the model reads, it reads as without the prefilter, and finds the same.
"""

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.messages import _
from nmspeller.runtime.decoder import Windows
from nmspeller.runtime.engine import Floats, Ids, OnnxSession
from nmspeller.runtime.policy import Level

FILE, THRESHOLDS = "prefilter.onnx", "prefilter.json"
"""Where a model's folder keeps the prefilter, and its threshold of each level."""
FORMAT = "nmspeller prefilter 1"


COMMAND = "nmspeller lab prefilter"
"""What writes both."""


class Prefilter(ABC):
    """A prefilter on some engine; `longest` is how many characters a window may have."""

    longest: int

    def select(self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows, threshold: float) -> Windows:
        """The windows with such an error score."""
        return windows.subset(highest_scores(self.error_scores(ids, allowed, windows), windows) >= threshold)

    @abstractmethod
    def error_scores(self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows) -> Floats:
        """The error score of each character, from 0 to 1: how improbable it is. (characters,)

        Characters that are not `allowed` to change, (characters,), and those that no window keeps, score 0.
        """


class OnnxPrefilter(OnnxSession, Prefilter):
    """The prefilter on the CPU."""

    command = COMMAND
    outputs = ("source_probability",)

    def error_scores(self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows) -> Floats:
        """As of every prefilter."""
        error_scores = np.zeros(len(ids), np.float32)
        for batch, (source_probability,) in self.read(ids, windows.starts, windows.stops):
            own = windows.subset(batch.windows)
            counts = batch.inside & (batch.positions >= own.keep_starts[:, None])
            counts &= batch.positions < own.keep_stops[:, None]
            counts[counts] = allowed[batch.positions[counts]]
            error_scores[batch.positions[counts]] = 1 - source_probability[counts]
        return error_scores


def highest_scores(error_scores: Floats, windows: Windows) -> Floats:
    """The highest error score of each window, (windows,).

    error_scores: (characters,), 0 where no window keeps a character.
    """
    bounds = np.stack((windows.starts, windows.stops), axis=1).ravel()
    # A window may end where the characters do, and reduceat wants a character there.
    highest: Floats = np.maximum.reduceat(np.append(error_scores, np.float32(0)), bounds)[::2]
    return highest


@dataclass(frozen=True)
class PrefilterThresholds:
    """The error score from which on the model reads a sentence, for each level.

    `calibration` says what they lost and saved where they were chosen.
    """

    levels: dict[Level, float]
    calibration: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "PrefilterThresholds":
        """Read a prefilter.json.

        Raises:
            InputError: the file is missing or is none.
        """
        try:
            content = json.loads(path.read_text("utf-8"))
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r}")
            levels = {level: float(content["levels"][level.value]) for level in Level}
            if not all(0 <= threshold <= 1 for threshold in levels.values()):
                raise ValueError("a threshold lies between 0 and 1")
            return cls(levels, content["calibration"])
        except OSError as error:
            reason = error.strerror or error
            raise InputError(
                _("cannot read {path} ({reason}); calibrate the prefilter with `{command}`.").format(
                    path=path, reason=reason, command=COMMAND
                )
            ) from error
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise InputError(
                _("{path} holds no prefilter thresholds ({error}); write it with `{command}`.").format(
                    path=path, error=error, command=COMMAND
                )
            ) from error

    def write(self, path: Path) -> None:
        """Write a prefilter.json."""
        levels = {level.value: threshold for level, threshold in self.levels.items()}
        content = {"format": FORMAT, "levels": levels, "calibration": self.calibration}
        write_whole(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
