"""The prefilter: a very small speller that scores every window first, so that the model reads only some.

Most text is right. The prefilter cannot correct, but sees that nothing is wrong with most windows in a
fraction of the model's time. It misses a few errors that the model would find, so it is an option.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.runtime.decoder import Windows
from nmspeller.runtime.engine import Floats, Ids, OnnxSession
from nmspeller.runtime.policy import Level

FILE, THRESHOLDS = "prefilter.onnx", "prefilter.json"
"""Where a model's folder keeps the prefilter, and its threshold of each level."""
FORMAT = "nmspeller prefilter 1"


class Prefilter(OnnxSession):
    """The prefilter on the CPU."""

    command = "nmspeller lab prefilter"
    outputs = ("source_probability",)
    # Its probabilities of all characters are what takes memory, and larger batches are no faster.
    batch_tokens = 256
    # The model, which comes next, needs the cores: with both spinning it takes twice as long.
    idle_threads_spin = False

    def error_score(self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows) -> Floats:
        """The error score of each window, from 0 to 1: its least likely source character's. (windows,)

        Only characters count that are `allowed` to change, (characters,), and in the part of the window that
        is kept; a window without any scores 0.
        """
        error_score = np.zeros(len(windows.starts), np.float32)
        for batch, (source_probability,) in self.read(ids, windows.starts, windows.stops):
            own = windows.subset(batch.windows)
            counts = batch.inside & (batch.positions >= own.keep_starts[:, None])
            counts &= batch.positions < own.keep_stops[:, None]
            counts[counts] = allowed[batch.positions[counts]]
            error_score[batch.windows] = np.where(counts, 1 - source_probability, 0).max(axis=1)
        return error_score


@dataclass(frozen=True)
class PrefilterThresholds:
    """The error score from which on the model reads a window, for each level.

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
                f"cannot read {path} ({reason}); calibrate the prefilter with `{Prefilter.command}`."
            ) from error
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise InputError(
                f"{path} holds no prefilter thresholds ({error}); write it with `{Prefilter.command}`."
            ) from error

    def write(self, path: Path) -> None:
        """Write a prefilter.json."""
        levels = {level.value: threshold for level, threshold in self.levels.items()}
        content = {"format": FORMAT, "levels": levels, "calibration": self.calibration}
        write_whole(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
