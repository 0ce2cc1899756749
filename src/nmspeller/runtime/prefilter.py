"""The prefilter: a very small model that scores every sentence first, so that the model reads only some.

Most text is right. The prefilter cannot correct, but sees that nothing is wrong with most sentences in a
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
from nmspeller.messages import _
from nmspeller.runtime.decoder import Positions, Sentences, Windows
from nmspeller.runtime.engine import Floats, Ids, OnnxSession
from nmspeller.runtime.policy import Level

FILE, THRESHOLDS = "prefilter.onnx", "prefilter.json"
"""Where a model's folder keeps the prefilter, and its threshold of each level."""
FORMAT = "nmspeller prefilter 1"

CONTEXT = 32
"""Neighbouring sentences are read as context if they fit into so many characters on either side."""


class Prefilter(OnnxSession):
    """The prefilter on the CPU."""

    command = "nmspeller lab prefilter"
    outputs = ("source_probability",)

    def select(
        self,
        ids: Ids,
        allowed: NDArray[np.bool_],
        windows: Windows,
        sentences: Sentences,
        threshold: float,
    ) -> Windows:
        """The windows that have a sentence with such an error score, narrowed to these sentences."""
        return narrow(windows, sentences, self.error_scores(ids, allowed, windows), threshold)

    def error_scores(self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows) -> Floats:
        """The error score of each character, from 0 to 1: how improbable it is. (characters,)

        Characters that are not `allowed` to change, (characters,), and those that no window keeps, score 0.
        """
        error_scores = np.zeros(len(ids), np.float32)
        for batch, (source_probability,) in self.read(ids, windows.starts, windows.stops):
            own = windows.subset(batch.windows)
            counts = batch.inside & (batch.positions >= own.keep_starts[:, None])
            counts &= batch.positions < own.keep_stops[:, None]
            counts[counts] = allowed[batch.positions[counts]]
            error_scores[batch.positions[counts]] = 1 - source_probability[counts]
        return error_scores


def span_starts(windows: Windows, sentences: Sentences) -> Positions:
    """Where sentences begin; one that is longer than a window is several spans, as the windows keep it."""
    return np.union1d(windows.keep_starts, sentences.starts)


def highest_scores(error_scores: Floats, spans: Positions) -> Floats:
    """The highest error score of each span, (spans,), up to the start of the next."""
    if not len(spans):
        return np.zeros(0, np.float32)
    highest: Floats = np.maximum.reduceat(error_scores, spans)
    return highest


def narrow(
    windows: Windows, sentences: Sentences, error_scores: Floats, threshold: float, context: int = CONTEXT
) -> Windows:
    """The windows that keep a span which reaches the threshold, narrowed to the first to the last of them.

    error_scores: (characters,), 0 where no window keeps a character. A sentence that begins or ends outside
    its window is read as far as the window goes.
    """
    spans = span_starts(windows, sentences)
    reached = np.flatnonzero(highest_scores(error_scores, spans) >= threshold)
    holder = np.searchsorted(windows.keep_starts, spans[reached], side="right") - 1
    chosen, first = np.unique(holder, return_index=True)
    last = np.append(first[1:], len(reached))[: len(chosen)] - 1
    windows = windows.subset(chosen)
    starts, last_starts = spans[reached[first]], spans[reached[last]]
    stops = np.minimum(np.append(spans, len(error_scores))[reached[last] + 1], windows.keep_stops)
    earliest = np.maximum(starts - context, windows.starts)
    latest = np.minimum(stops + context, windows.stops)
    start = np.append(sentences.starts, len(error_scores))[np.searchsorted(sentences.starts, earliest)]
    stop = np.append(0, sentences.stops)[np.searchsorted(sentences.stops, latest, side="right")]
    read_starts = np.where(start <= starts, start, windows.starts)
    read_stops = np.where(stop > last_starts, stop, windows.stops)
    return Windows(
        read_starts,
        read_stops,
        np.maximum(windows.keep_starts, read_starts),
        np.minimum(windows.keep_stops, read_stops),
    )


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
                    path=path, reason=reason, command=Prefilter.command
                )
            ) from error
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise InputError(
                _("{path} holds no prefilter thresholds ({error}); write it with `{command}`.").format(
                    path=path, error=error, command=Prefilter.command
                )
            ) from error

    def write(self, path: Path) -> None:
        """Write a prefilter.json."""
        levels = {level.value: threshold for level, threshold in self.levels.items()}
        content = {"format": FORMAT, "levels": levels, "calibration": self.calibration}
        write_whole(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
