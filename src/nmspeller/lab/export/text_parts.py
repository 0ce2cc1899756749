"""Texts as a model reads them, without rules or a user's words, and the places of what it finds."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.part_batch import PartBatch
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import Thresholds
from nmspeller.runtime.reading import Part, Reading
from nmspeller.text.protect import protected_spans


class Places(NamedTuple):
    """Where some characters stand, (characters,) each: in which text, and at which offset."""

    texts: NDArray[np.intp]
    offsets: NDArray[np.intp]


class TextParts:
    """The parts of some texts, in order; they are read in batches, which `places` is told of in order."""

    def __init__(self, texts: Iterable[str], window: int) -> None:
        self.parts: list[Part] = []
        texts_of_parts: list[int] = []
        starts: list[int] = []
        for number, text in enumerate(texts):
            locked = [(start, stop) for start, stop, _ in protected_spans(text)]
            reading = Reading(text, window=window, locked=locked)
            self.parts += reading.parts
            starts += reading.starts
            texts_of_parts += [number] * len(reading.parts)
        self._texts = np.array(texts_of_parts, np.intp)
        self._starts = np.array(starts, np.intp)
        self._done = 0

    def places(self, batch: PartBatch, positions: NDArray[np.intp]) -> Places:
        """The places of positions in a batch, which comes after those of earlier calls."""
        part = np.searchsorted(batch.offsets, positions, side="right") - 1
        number = self._done + part
        self._done += len(batch.parts)
        return Places(self._texts[number], self._starts[number] + positions - batch.offsets[part])


def answers(pipeline: Pipeline, texts: Sequence[str], thresholds: Thresholds, passes: int) -> list[str]:
    """The texts as a model corrects them."""
    corrected = [list(text) for text in texts]
    read = TextParts(texts, pipeline.window)
    for batch, found in pipeline.detect(read.parts, thresholds, passes):
        places = read.places(batch, found.positions)
        for text, offset, target in zip(*places, found.targets, strict=True):
            corrected[text][offset] = pipeline.vocabulary.tokens[target]
    return ["".join(characters) for characters in corrected]
