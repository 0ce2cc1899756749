"""What a model says of sentences, read in large batches: the best other characters, and the tags."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nmspeller.lab.models.batch import Batch, collate
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.models.tag_sizes import KINDS
from nmspeller.text.vocabulary import Vocabulary

_BATCH_TOKENS = 16_384


@dataclass(frozen=True)
class SentenceReading:
    """Of one sentence of n characters.

    other: the most probable character other than the source, (n,); confidence: that it must be replaced by
    it, as the decoder has it, (n,); 0 where either is no Hanzi.
    best, likely: the most probable Hanzi whatever stands there, and its probability, (n,).
    tags: the probabilities of extra, missing before and swapped, (n + 1, 3); zeros for a model without tags.
    """

    other: NDArray[np.int32]
    confidence: NDArray[np.float32]
    best: NDArray[np.int32]
    likely: NDArray[np.float32]
    tags: NDArray[np.float32]


class Reader:
    """A model that reads rows of ids, without special tokens; the longest are cut to what it can read."""

    def __init__(self, model: SpellerModel, vocabulary: Vocabulary) -> None:
        self.model, self.vocabulary = model.eval(), vocabulary
        self.longest = model.config.encoder.positions - 2
        self._device = next(model.parameters()).device
        self._hanzi = torch.from_numpy(vocabulary.is_hanzi().copy()).to(self._device)

    def encode(self, sentences: Sequence[str]) -> list[NDArray[np.int32]]:
        """Sentences as rows."""
        return [self.vocabulary.encode(sentence)[: self.longest] for sentence in sentences]

    def read(self, rows: Sequence[NDArray[Any]]) -> list[SentenceReading]:
        """A reading of each row, in their order."""
        readings: dict[int, SentenceReading] = {}
        for chosen in _batches(rows):
            edges = [
                np.concatenate(([self.vocabulary.cls], rows[number], [self.vocabulary.sep]))
                for number in chosen
            ]
            batch = collate(edges, pad=self.vocabulary.pad).to(self._device)
            outputs = [tensor.cpu().numpy() for tensor in self._outputs(batch)]
            for place, number in enumerate(chosen):
                end = len(rows[number]) + 1
                other, confidence, best, likely = (output[place, 1:end] for output in outputs[:4])
                readings[number] = SentenceReading(
                    other, confidence, best, likely, outputs[4][place, 1 : end + 1]
                )
        return [readings[number] for number in range(len(rows))]

    @torch.no_grad()
    def _outputs(self, batch: Batch) -> tuple[torch.Tensor, ...]:
        """The arrays of a reading for each row, with the special tokens and padding."""
        model = self.model
        half = torch.autocast("cuda", dtype=torch.float16) if batch.ids.is_cuda else nullcontext()
        with half:
            _, scores, tags = model.outputs(batch)
        probabilities = scores.float().softmax(dim=-1)
        at_source = batch.ids.unsqueeze(-1)
        source = probabilities.gather(-1, at_source).squeeze(-1)
        other = probabilities.scatter(-1, at_source, 0.0).max(dim=-1)
        fourth = other.values**4
        confidence = fourth / (fourth + source).clamp(min=1e-12)
        confidence = confidence * (self._hanzi[other.indices] & self._hanzi[batch.ids])
        best = (probabilities * self._hanzi).max(dim=-1)
        tagged = tags.float().sigmoid() if tags is not None else torch.zeros(*batch.ids.shape, KINDS)
        return other.indices.int(), confidence, best.indices.int(), best.values, tagged


def _batches(rows: Sequence[NDArray[Any]]) -> Iterator[list[int]]:
    """Which rows are read together: those of similar length, as many as fill a batch."""
    order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
    chosen: list[int] = []
    for number in order:
        if chosen and (len(chosen) + 1) * (len(rows[number]) + 2) > _BATCH_TOKENS:
            yield chosen
            chosen = []
        chosen.append(number)
    if chosen:
        yield chosen
