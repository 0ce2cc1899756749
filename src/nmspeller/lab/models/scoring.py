"""Scoring text in bulk on a device: packed ids in, candidates of the least probable characters out.

Every batch has one shape, so that a GPU's kernels are compiled once, and a sentence's scores do not depend on
the rest of its batch. For nearly all positions only the probability of the source character is computed; the
five candidates are searched where that is lowest, and only they are copied from the device.
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

_NEVER_REPLACED = 2.0  # the "probability" of special tokens and padding
_NOT_A_NUMBER = -1.0  # the "probability" where the model's output is nan
_SHARE = 8  # candidates are computed for one position in so many, or, slowly, for all


class Packed(NamedTuple):
    """Windows packed end to end into a fixed shape; see `PackedBatch`."""

    ids: NDArray[np.int64]  # (tokens,)
    positions: NDArray[np.int64]  # (tokens,)
    slots: NDArray[np.int64]  # (tokens,)
    inside: NDArray[np.bool_]  # (tokens,) whether this is a character of the text
    edges: NDArray[np.int32]  # (rows + 1,)
    longest: int


class Uncertain(NamedTuple):
    """Positions of a packed batch, those with the least probable source characters first."""

    places: NDArray[np.int32]  # (positions,) into the batch's tokens
    best: NDArray[np.int32]  # (positions, 5)
    probabilities: NDArray[np.float32]  # (positions, 5)
    source_probabilities: NDArray[np.float32]  # (positions,) of the source characters
    tags: NDArray[np.float32] | None = None  # (tokens, 3) of the whole batch, from a model with tags


class Scorer:
    """A BERT speller on a device: half precision on a GPU, single precision elsewhere.

    Raises:
        InputError: there is no such device, or the weights are not a BERT's.
    """

    def __init__(
        self,
        encoder: EncoderConfig,
        weights: Mapping[str, NDArray[np.float32]],
        device: str,
        threads: int | None = None,
    ) -> None:
        if device == "cuda" and not torch.cuda.is_available():
            raise InputError("PyTorch sees no CUDA device here; leave out the device to use the CPU.")
        if threads is not None:
            torch.set_num_threads(threads)
        self._device = torch.device(device)
        cuda = self._device.type == "cuda"
        # Half precision has eight times bfloat16's resolution at the same speed, and BERT stays in its range.
        self._model = from_arrays(encoder, weights).to(self._device, torch.float16 if cuda else torch.float32)
        self._compiled: Any = torch.compile(self._score, dynamic=False) if cuda else self._score

    @torch.no_grad()
    def submit(self, packed: Packed) -> "Pending":
        """Start scoring a batch; a GPU works on while the result is not asked for."""
        batch = PackedBatch(
            self._send(packed.ids),
            self._send(packed.positions),
            self._send(packed.edges),
            self._send(packed.slots),
            packed.longest,
        )
        inside = self._send(packed.inside)
        scores = self._compiled(batch, inside, len(packed.ids) // _SHARE)
        return Pending(self, batch, inside, scores)

    def _send(self, array: NDArray[Any]) -> Tensor:
        tensor = torch.from_numpy(array)
        if self._device.type == "cuda":
            # A copy from pinned memory does not wait for earlier work.
            tensor = tensor.pin_memory()
        return tensor.to(self._device, non_blocking=True)

    def _score(self, batch: PackedBatch, inside: Tensor, count: int) -> tuple[Tensor, ...]:
        """places (count,), best and probabilities (count, 5), source (count,): of the least probable.

        And from a model with tags their probabilities, (tokens, 3).
        """
        model = self._model
        _, scores, tag_scores = model.outputs(batch, aligned=True)
        tags = () if tag_scores is None else (tag_scores.float().sigmoid(),)
        total = scores.float().logsumexp(dim=-1)
        source_probabilities = (scores.gather(1, batch.ids[:, None])[:, 0].float() - total).exp()
        source_probabilities = torch.where(
            inside, source_probabilities.nan_to_num(nan=_NOT_A_NUMBER), _NEVER_REPLACED
        )
        source_probabilities, places = source_probabilities.topk(count, largest=False)
        best = scores[places].float().topk(BEST)
        probabilities = (best.values - total[places][:, None]).exp()
        return places.int(), best.indices.int(), probabilities, source_probabilities, *tags


class Pending:
    """A batch that is being scored."""

    def __init__(
        self, scorer: Scorer, batch: PackedBatch, inside: Tensor, scores: tuple[Tensor, ...]
    ) -> None:
        self._scorer, self._batch, self._inside = scorer, batch, inside
        self._scores = [tensor.to("cpu", non_blocking=True) for tensor in scores]
        self._arrived = torch.cuda.Event() if inside.is_cuda else None
        if self._arrived:
            self._arrived.record()

    @torch.no_grad()
    def result(self, threshold: float) -> Uncertain:
        """All positions whose source character has at most the probability `threshold`."""
        if self._arrived:
            self._arrived.synchronize()
        found = Uncertain(*(tensor.numpy() for tensor in self._scores))
        if found.source_probabilities[0] == _NOT_A_NUMBER:
            raise InputError("this model exceeds the range of half precision; use it on the CPU.")
        most = min(threshold, (1 + _NEVER_REPLACED) / 2)
        if found.source_probabilities[-1] <= most:
            # More positions are below the threshold than were computed: score all of them.
            everything = self._scorer._score(self._batch, self._inside, len(self._inside))
            found = Uncertain(*(tensor.cpu().numpy() for tensor in everything))
        told = found.source_probabilities <= most
        return Uncertain(
            found.places[told],
            found.best[told],
            found.probabilities[told],
            found.source_probabilities[told],
            found.tags,
        )


def device_name() -> str:
    """The GPU's name."""
    return torch.cuda.get_device_name()
