"""Sentences as tensors: padded into a rectangle, or packed end to end.

Both kinds offer the same: `ids`, `positions`, `targets`, the `neighbours` of positions, and `pad`, `pack`
between the layout at hand and a rectangle, so that a model is written once. Every row is [CLS] characters
[SEP].
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

NO_TARGET = -100
"""The target of positions without a loss: [CLS], [SEP], padding."""

AnyBatch = TypeVar("AnyBatch", "Batch", "PackedBatch")


def _moved(batch: AnyBatch, device: torch.device | str) -> AnyBatch:
    tensors: dict[str, Any] = {
        entry.name: value.to(device, non_blocking=True)
        for entry in fields(batch)
        if isinstance(value := getattr(batch, entry.name), Tensor)
    }
    return replace(batch, **tensors)


class _Pack(torch.autograd.Function):
    """values[slots], where no slot comes twice: the gradient is copied, not added up, which takes a sort."""

    @staticmethod
    def forward(context: Any, values: Tensor, slots: Tensor) -> Tensor:
        context.save_for_backward(slots)
        context.rows = len(values)
        return values.index_select(0, slots)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (slots,) = context.saved_tensors
        (gradient,) = gradients
        spread = gradient.new_zeros(context.rows, *gradient.shape[1:])
        return spread.index_copy(0, slots, gradient), None


_pack: Callable[[Tensor, Tensor], Tensor] = _Pack.apply


@dataclass(frozen=True)
class Batch:
    """Rows of equal length.

    ids: (batch, length) long, right-padded.
    mask: (batch, length) bool, True at real positions; None when nothing is padded, which is faster.
    targets: (batch, length) long, -100 where there is no loss; None in prediction.
    tags: (batch, length) long, bits as in `data.alignment`, -100 where there is no loss; None in prediction.
    """

    ids: Tensor
    mask: Tensor | None = None
    targets: Tensor | None = None
    tags: Tensor | None = None

    @property
    def positions(self) -> Tensor:
        """(1, length): broadcasts over the rows."""
        return torch.arange(self.ids.shape[1], device=self.ids.device)[None]

    @property
    def real(self) -> Tensor:
        """(batch, length) bool, True at real positions."""
        return torch.ones_like(self.ids, dtype=torch.bool) if self.mask is None else self.mask

    def pad(self, values: Tensor) -> Tensor:
        """(batch, length, ...), unchanged."""
        return values

    def pack(self, values: Tensor) -> Tensor:
        """(batch, length, ...), unchanged."""
        return values

    def has_neighbour(self, distance: int) -> Tensor:
        """(batch, length) bool: whether the row goes on for so many places, to the left where negative."""
        there = torch.roll(self.positions, -distance, dims=1) == self.positions + distance
        return there & torch.roll(self.real, -distance, dims=1)

    def neighbours(self, values: Tensor, distance: int) -> Tensor:
        """(batch, length, ...) → the value so many places on in the row, zero where it does not go on."""
        return _or_zero(torch.roll(values, -distance, dims=1), self.has_neighbour(distance))

    def to(self, device: torch.device | str) -> "Batch":
        return _moved(self, device)


@dataclass(frozen=True)
class PackedBatch:
    """Rows laid end to end, without padding.

    ids, positions, targets, tags: (tokens,) long; positions restart at 0 in each row.
    cumulative: (rows + 1,) int32, where each row starts, and the end.
    slots: (tokens,) long, the place of each token in the flattened (rows, longest) rectangle.
    """

    ids: Tensor
    positions: Tensor
    cumulative: Tensor
    slots: Tensor
    longest: int
    targets: Tensor | None = None
    tags: Tensor | None = None

    @property
    def real(self) -> Tensor:
        """(rows, longest) bool, True at real positions of the rectangle."""
        lengths = self.cumulative.diff()
        return torch.arange(self.longest, device=self.ids.device)[None] < lengths[:, None]

    def pad(self, values: Tensor) -> Tensor:
        """(tokens, ...) → (rows, longest, ...), zero where there is no token."""
        rows = self.cumulative.shape[0] - 1
        padded = values.new_zeros(rows * self.longest, *values.shape[1:])
        return padded.index_copy(0, self.slots, values).reshape(rows, self.longest, *values.shape[1:])

    def pack(self, values: Tensor) -> Tensor:
        """(rows, longest, ...) → (tokens, ...)."""
        return _pack(values.flatten(0, 1), self.slots)

    def has_neighbour(self, distance: int) -> Tensor:
        """(tokens,) bool: whether the row goes on for so many places, to the left where negative."""
        # What stands there in another row has another position: those restart in each row.
        there: Tensor = torch.roll(self.positions, -distance) == self.positions + distance
        return there

    def neighbours(self, values: Tensor, distance: int) -> Tensor:
        """(tokens, ...) → the value so many places on in the row, zero where it does not go on."""
        return _or_zero(torch.roll(values, -distance, dims=0), self.has_neighbour(distance))

    def to(self, device: torch.device | str) -> "PackedBatch":
        return _moved(self, device)


def _or_zero(values: Tensor, keep: Tensor) -> Tensor:
    return values * keep.reshape(*keep.shape, *[1] * (values.dim() - keep.dim()))


def collate(
    rows: Sequence[Any],
    targets: Sequence[Any] | None = None,
    pad_multiple: int = 8,
    pad: int = 0,
    tags: Sequence[Any] | None = None,
) -> Batch:
    """Pad id sequences, each already [CLS] … [SEP], to the longest, rounded up to `pad_multiple`.

    Targets and tags are as long as their rows, with -100 where there is no loss.
    """
    lengths = np.array([len(row) for row in rows])
    width = -(-int(lengths.max()) // pad_multiple) * pad_multiple
    mask = np.arange(width)[None] < lengths[:, None]
    return Batch(
        ids=_rectangle(rows, mask, pad),
        mask=None if mask.all() else torch.from_numpy(mask),
        targets=None if targets is None else _rectangle(targets, mask, NO_TARGET),
        tags=None if tags is None else _rectangle(tags, mask, NO_TARGET),
    )


def pack(
    rows: Sequence[Any],
    targets: Sequence[Any] | None = None,
    longest: int | None = None,
    tags: Sequence[Any] | None = None,
) -> PackedBatch:
    """Lay id sequences, each already [CLS] … [SEP], end to end; `longest` may be any bound on lengths."""
    lengths = np.array([len(row) for row in rows])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    positions = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    longest = longest or int(lengths.max())
    slots = np.repeat(np.arange(len(rows)) * longest, lengths) + positions
    return PackedBatch(
        ids=_flat(rows),
        positions=torch.from_numpy(positions.astype(np.int64)),
        cumulative=torch.from_numpy(starts.astype(np.int32)),
        slots=torch.from_numpy(slots.astype(np.int64)),
        longest=longest,
        targets=None if targets is None else _flat(targets),
        tags=None if tags is None else _flat(tags),
    )


def _flat(rows: Sequence[Any]) -> Tensor:
    return torch.from_numpy(np.concatenate(rows).astype(np.int64))


def _rectangle(rows: Sequence[Any], mask: np.ndarray, fill: int) -> Tensor:
    filled = np.full(mask.shape, fill, dtype=np.int64)
    filled[mask] = np.concatenate(rows)
    return torch.from_numpy(filled)
