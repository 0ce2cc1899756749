"""Scoring text in bulk on a device: packed ids in, candidates of the least probable characters out.

Every batch has one shape, so that a GPU's kernels are compiled once, and a sentence's scores do not depend on
the rest of its batch. For nearly all positions only the probability of the source character is computed; the
five candidates are searched where that is lowest, and only they are copied from the device.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import PackedBatch
from nmspeller.lab.models.config import BEST, EncoderConfig
from nmspeller.lab.models.fake_quantisation import freeze
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


class DeviceModel:
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
        self._is_gpu = self._device.type == "cuda"
        # Half precision has eight times bfloat16's resolution at the same speed, and BERT stays in its range.
        precision = torch.float16 if self._is_gpu else torch.float32
        self.model = from_arrays(encoder, weights).to(self._device, precision)
        freeze(self.model)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of tensors on the device, for batches of one shape."""
        return torch.compile(function, dynamic=False) if self._is_gpu else function

    def batch(self, packed: Packed) -> PackedBatch:
        """The batch on the device."""
        return PackedBatch(
            self.send(packed.ids),
            self.send(packed.positions),
            self.send(packed.edges),
            self.send(packed.slots),
            packed.longest,
        )

    def send(self, array: NDArray[Any]) -> Tensor:
        """The array on the device."""
        tensor = torch.from_numpy(array)
        if self._is_gpu:
            # A copy from pinned memory does not wait for earlier work.
            tensor = tensor.pin_memory()
        return tensor.to(self._device, non_blocking=True)


class _OnTheWay:
    """Tensors that are being computed and copied from the device."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._arrived = torch.cuda.Event() if tensors[0].is_cuda else None
        self._tensors = [tensor.to("cpu", non_blocking=True) for tensor in tensors]
        if self._arrived:
            self._arrived.record()

    def arrays(self) -> list[NDArray[Any]]:
        """Waits for them."""
        if self._arrived:
            self._arrived.synchronize()
        return [tensor.numpy() for tensor in self._tensors]


class SourceScorer:
    """Of every character, how probable a prefilter thinks it."""

    def __init__(self, on_device: DeviceModel) -> None:
        self._on_device = on_device
        self._compiled = on_device.compiled(self._score)

    @torch.no_grad()
    def submit(self, packed: Packed) -> "PendingProbabilities":
        """Start scoring a batch; a GPU works on while the result is not asked for."""
        return PendingProbabilities([self._compiled(self._on_device.batch(packed))])

    def _score(self, batch: PackedBatch) -> Tensor:
        """The probabilities of all tokens: (tokens,)."""
        return self._on_device.model.source_scores(batch).float().sigmoid()


class PendingProbabilities(_OnTheWay):
    """A batch that is being scored."""

    def result(self) -> NDArray[np.float32]:
        """The probability of each token: (tokens,)."""
        [probabilities] = self.arrays()
        if np.isnan(probabilities).any():
            raise _out_of_range()
        return probabilities


class Scorer:
    """Candidates of the least probable characters."""

    def __init__(self, on_device: DeviceModel) -> None:
        self._on_device = on_device
        self._compiled = on_device.compiled(self._score)

    @torch.no_grad()
    def submit(self, packed: Packed, *, every_position: bool = False) -> "Pending":
        """Start scoring a batch; a GPU works on while the result is not asked for.

        every_position: all of them will be asked for, and are computed at once.
        """
        batch, inside = self._on_device.batch(packed), self._on_device.send(packed.inside)
        count = len(packed.ids) if every_position else len(packed.ids) // _SHARE
        return Pending(self, batch, inside, self._compiled(batch, inside, count))

    @torch.no_grad()
    def score_all(self, batch: PackedBatch, inside: Tensor) -> Uncertain:
        """All positions, which takes long."""
        return Uncertain(*(tensor.cpu().numpy() for tensor in self._score(batch, inside, len(inside))))

    def _score(self, batch: PackedBatch, inside: Tensor, count: int) -> tuple[Tensor, ...]:
        """places (count,), best and probabilities (count, 5), source (count,): of the least probable.

        And from a model with tags their probabilities, (tokens, 3).
        """
        _, scores, tag_scores = self._on_device.model.outputs(batch, aligned=True)
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


class Pending(_OnTheWay):
    """A batch that is being scored."""

    def __init__(self, scorer: Scorer, batch: PackedBatch, inside: Tensor, scores: Sequence[Tensor]) -> None:
        super().__init__(scores)
        self._scorer, self._batch, self._inside = scorer, batch, inside

    def result(self, threshold: float) -> Uncertain:
        """All positions whose source character has at most the probability `threshold`."""
        found = Uncertain(*self.arrays())
        if found.source_probabilities[0] == _NOT_A_NUMBER:
            raise _out_of_range()
        most = min(threshold, (1 + _NEVER_REPLACED) / 2)
        if found.source_probabilities[-1] <= most:
            # More positions are below the threshold than were computed.
            found = self._scorer.score_all(self._batch, self._inside)
        told = found.source_probabilities <= most
        return Uncertain(
            found.places[told],
            found.best[told],
            found.probabilities[told],
            found.source_probabilities[told],
            found.tags,
        )


def _out_of_range() -> InputError:
    return InputError("this model exceeds the range of half precision; use it on the CPU.")


def device_name() -> str:
    """The GPU's name."""
    return torch.cuda.get_device_name()
