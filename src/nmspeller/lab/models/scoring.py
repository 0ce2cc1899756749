"""Reading text in bulk on a device: packed ids in, the best characters of the doubtful positions out.

Every batch has one shape, so that a GPU's kernels are compiled once, and a sentence's answer does not depend
on what is read beside it. Of nearly all positions only the probability of the character that stands there is
computed; the best five are looked for where that is lowest, and nothing else leaves the device.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import PackedBatch
from nmspeller.lab.models.config import BEST, EncoderConfig
from nmspeller.lab.models.registry import from_arrays

_CERTAIN = 2.0  # the "probability" of what is never replaced: special tokens and padding
_BROKEN = -1.0  # the "probability" that stands for no number at all
_SHARE = 8  # one position in so many may be doubtful before a batch is read the slow way


class Packed(NamedTuple):
    """Windows laid end to end in a fixed shape; see `PackedBatch`."""

    ids: NDArray[np.int64]  # (tokens,)
    positions: NDArray[np.int64]  # (tokens,)
    slots: NDArray[np.int64]  # (tokens,)
    inside: NDArray[np.bool_]  # (tokens,) whether a character of the text stands here
    edges: NDArray[np.int32]  # (rows + 1,)
    longest: int


class Uncertain(NamedTuple):
    """Positions of a packed batch, the most doubtful first."""

    places: NDArray[np.int32]  # (positions,) into the batch's tokens
    best: NDArray[np.int32]  # (positions, 5)
    probabilities: NDArray[np.float32]  # (positions, 5)
    source_probabilities: NDArray[np.float32]  # (positions,) probability of the character that stands there


class Scorer:
    """A BERT speller on a device: half precision on a GPU, single precision elsewhere.

    Raises:
        InputError: there is no such device, or the weights are no BERT's.
    """

    def __init__(
        self,
        encoder: EncoderConfig,
        weights: Mapping[str, NDArray[np.float32]],
        device: str,
        threads: int | None = None,
    ) -> None:
        if device == "cuda" and not torch.cuda.is_available():
            raise InputError("PyTorch sees no CUDA device here; leave out the device to use the processor.")
        if threads is not None:
            torch.set_num_threads(threads)
        self._device = torch.device(device)
        cuda = self._device.type == "cuda"
        # Half precision has eight times bfloat16's resolution at the same speed, and BERT stays in its range.
        self._model = from_arrays(encoder, weights).to(self._device, torch.float16 if cuda else torch.float32)
        self._read: Any = torch.compile(self._score, dynamic=False) if cuda else self._score

    @torch.no_grad()
    def submit(self, packed: Packed) -> "Pending":
        """Start reading a batch; on a GPU the answer is waited for only when it is asked for."""
        batch = PackedBatch(
            self._send(packed.ids),
            self._send(packed.positions),
            self._send(packed.edges),
            self._send(packed.slots),
            packed.longest,
        )
        inside = self._send(packed.inside)
        answer = self._read(batch, inside, len(packed.ids) // _SHARE)
        return Pending(self, batch, inside, answer)

    def _send(self, array: NDArray[Any]) -> Tensor:
        tensor = torch.from_numpy(array)
        if self._device.type == "cuda":
            # From pinned memory a copy does not wait for the work before it.
            tensor = tensor.pin_memory()
        return tensor.to(self._device, non_blocking=True)

    def _score(self, batch: PackedBatch, inside: Tensor, count: int) -> tuple[Tensor, ...]:
        """places (count,), best and probabilities (count, 5), source (count,): of the least certain."""
        model = self._model
        scores = model.head(model.hidden(batch), model.output_words(), aligned=True)
        total = scores.float().logsumexp(dim=-1)
        source_probabilities = (scores.gather(1, batch.ids[:, None])[:, 0].float() - total).exp()
        source_probabilities = torch.where(inside, source_probabilities.nan_to_num(nan=_BROKEN), _CERTAIN)
        source_probabilities, places = source_probabilities.topk(count, largest=False)
        best = scores[places].float().topk(BEST)
        probabilities = (best.values - total[places][:, None]).exp()
        return places.int(), best.indices.int(), probabilities, source_probabilities


class Pending:
    """A batch under way."""

    def __init__(
        self, scorer: Scorer, batch: PackedBatch, inside: Tensor, answer: tuple[Tensor, ...]
    ) -> None:
        self._scorer, self._batch, self._inside = scorer, batch, inside
        self._answer = [tensor.to("cpu", non_blocking=True) for tensor in answer]
        self._arrived = torch.cuda.Event() if inside.is_cuda else None
        if self._arrived:
            self._arrived.record()

    @torch.no_grad()
    def result(self, threshold: float) -> Uncertain:
        """All positions whose character has at most the probability `threshold`."""
        if self._arrived:
            self._arrived.synchronize()
        found = Uncertain._make(tensor.numpy() for tensor in self._answer)
        if found.source_probabilities[0] == _BROKEN:
            raise InputError("this model leaves the range of half precision; use it on the processor.")
        most = min(threshold, (1 + _CERTAIN) / 2)
        if found.source_probabilities[-1] <= most:
            # More are in threshold than there was room for: read again, with room for all.
            everything = self._scorer._score(self._batch, self._inside, len(self._inside))
            found = Uncertain._make(tensor.cpu().numpy() for tensor in everything)
        return Uncertain._make(values[found.source_probabilities <= most] for values in found)


def device_name() -> str:
    """What the GPU calls itself."""
    return torch.cuda.get_device_name()
