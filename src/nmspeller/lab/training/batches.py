"""From a stream's rows to the tensors that a model reads."""

from dataclasses import dataclass, replace

import torch

from nmspeller.lab.models.batch import NO_TARGET, Batch, PackedBatch, collate, pack
from nmspeller.lab.training.corruption import Row
from nmspeller.lab.training.streams import Stream


@dataclass(frozen=True)
class Layout:
    """How rows become tensors: padded to a rectangle, packed end to end, or packed to exactly `tokens`.

    A fixed shape lets the model be compiled once. Rows that do not fit are left out; what is missing is
    filled with rows of [PAD] that carry no target.
    """

    packed: bool = False
    tokens: int | None = None
    longest: int = 128
    typical: int = 24  # a fixed shape has room for rows of this mean length; more room costs attention time

    def __call__(self, rows: list[Row], pad: int) -> Batch | PackedBatch:
        if not self.packed:
            ids, targets, tags = zip(*rows, strict=True)
            return collate(ids, targets, pad=pad, tags=tags)
        if self.tokens is None:
            ids, targets, tags = zip(*rows, strict=True)
            return pack(ids, targets, tags=tags)
        room = self.tokens // self.typical
        rows = rows[: room - self.tokens // self.longest - 1]
        missing = self.tokens - sum(len(row.ids) for row in rows)
        while missing < 0:
            missing += len(rows.pop().ids)
        filler = [self.longest] * (missing // self.longest) + [missing % self.longest] * bool(
            missing % self.longest
        )
        rows = rows + [Row.filler(n, pad) for n in filler]
        ids, targets, tags = zip(*rows, strict=True)
        packed = pack(ids, targets, longest=self.longest, tags=tags)
        # Empty rows at the end bring every batch to one number of rows.
        cumulative = torch.nn.functional.pad(packed.cumulative, (0, room - len(rows)), value=self.tokens)
        return replace(packed, cumulative=cumulative)


class Batches(torch.utils.data.Dataset[tuple[Batch | PackedBatch, int]]):
    """A stream's batches for a DataLoader; with several processes each takes every world-th row."""

    def __init__(self, stream: Stream, layout: Layout, pad: int, rank: int = 0, world: int = 1) -> None:
        self.stream, self.layout, self.pad, self.rank, self.world = stream, layout, pad, rank, world

    def __len__(self) -> int:
        return len(self.stream)

    def __getitem__(self, step: int) -> tuple[Batch | PackedBatch, int]:
        """The batch, and how many targets all processes' shares of it hold."""
        rows = self.stream.rows(step)
        targets = sum(int((row.targets != NO_TARGET).sum()) for row in rows)
        return self.layout(rows[self.rank :: self.world] or rows[:1], self.pad), targets
