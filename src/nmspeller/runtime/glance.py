"""A glance: a very small speller that tells which windows the model need not read.

Most text is right. The glance knows too little to correct anything, but enough to see that nothing is wrong
with most windows, in a fraction of the time that the model takes.
"""

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.engine import Floats, Ids, Session
from nmspeller.runtime.findings import Windows

FILE = "glance.onnx"
"""Where a model's folder keeps it; a folder without it has its model read everything."""


class Glance(Session):
    """The small speller on the processor."""

    command = "nmspeller glance"
    outputs = ("kept",)
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
