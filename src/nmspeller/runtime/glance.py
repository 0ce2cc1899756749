"""A glance: a very small speller that tells which windows the model need not read.

Most text is right. The glance knows too little to correct anything, but enough to see that nothing is wrong
with most windows, in a fraction of the time that the model takes. It overlooks what only the model would
have seen, so it is used only by a speller that was asked to be quick.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.data.files import write_whole
from nmspeller.errors import InputError
from nmspeller.runtime.engine import Floats, Ids, Session
from nmspeller.runtime.findings import Windows
from nmspeller.runtime.policy import Level

FILE, DOUBTS = "glance.onnx", "glance.json"
"""Where a model's folder keeps the small speller, and how doubtful it must be at each level."""
FORMAT = "nmspeller glance 1"


class Glance(Session):
    """The small speller on the processor."""

    command = "nmspeller glance"
    outputs = ("kept",)
    # Its probabilities of all characters are what takes memory, and larger batches are no faster.
    batch_tokens = 256
    # The model, which comes next, needs the cores: with both spinning it takes twice as long.
    idle_threads_spin = False

    def suspicion(self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows) -> Floats:
        """How doubtful the most doubtful character of each window is, from 0 to 1: (windows,).

        Only characters count that are `allowed` to change, (characters,), and in the part of the window that
        is kept; a window without any is beyond doubt.
        """
        suspicion = np.zeros(len(windows.starts), np.float32)
        for batch, (kept,) in self.read(ids, windows.starts, windows.stops):
            own = windows.subset(batch.windows)
            counts = batch.inside & (batch.positions >= own.keep_starts[:, None])
            counts &= batch.positions < own.keep_stops[:, None]
            counts[counts] = allowed[batch.positions[counts]]
            suspicion[batch.windows] = np.where(counts, 1 - kept, 0).max(axis=1)
        return suspicion


@dataclass(frozen=True)
class Doubts:
    """How doubtful the glance must find a character, at each level, before the model reads its window.

    `calibration` says what they lost and spared where they were chosen.
    """

    levels: dict[Level, float]
    calibration: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Doubts":
        """Read a glance.json.

        Raises:
            InputError: the file is missing or is none.
        """
        try:
            content = json.loads(path.read_text("utf-8"))
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r}")
            levels = {level: float(content["levels"][level.value]) for level in Level}
            if not all(0 <= doubt <= 1 for doubt in levels.values()):
                raise ValueError("a doubt lies between 0 and 1")
            return cls(levels, content["calibration"])
        except OSError as error:
            reason = error.strerror or error
            raise InputError(
                f"cannot read {path} ({reason}); calibrate the glance with `{Glance.command}`."
            ) from error
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise InputError(
                f"{path} does not say when a glance has doubts ({error}); write it with `{Glance.command}`."
            ) from error

    def write(self, path: Path) -> None:
        """Write a glance.json."""
        levels = {level.value: doubt for level, doubt in self.levels.items()}
        content = {"format": FORMAT, "levels": levels, "calibration": self.calibration}
        write_whole(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
