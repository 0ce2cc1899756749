"""Pairs that lie on the device, where each step's batch is packed: nothing is copied while a model trains."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmspeller.errors import InputError
from nmspeller.lab.data.prepared import PairArrays
from nmspeller.lab.models.batch import NO_TARGET, PackedBatch
from nmspeller.text.vocabulary import Vocabulary

_TRIALS = 1_000  # exchanges tried for one step before a limit is taken for impossible


class DevicePairs:
    """Sets of pairs, from which every step takes `sentences`, packed to exactly `tokens`.

    Longer pairs are cut to `longest` tokens, [CLS] and [SEP] among them. What is missing to `tokens` are rows
    of [PAD] without a target, so that all batches have one shape.
    """

    def __init__(
        self,
        sets: Sequence[PairArrays],
        vocabulary: Vocabulary,
        *,
        sentences: int,
        tokens: int,
        longest: int = 128,
        device: torch.device | str = "cpu",
    ) -> None:
        self.vocabulary, self.sentences, self.tokens, self.longest = vocabulary, sentences, tokens, longest
        before = np.cumsum([0, *(len(pairs.source) for pairs in sets)])
        starts = [pairs.starts[:-1] + first for pairs, first in zip(sets, before[:-1], strict=True)]
        lengths = [np.minimum(pairs.lengths(), longest - 2) for pairs in sets]
        self._widths = np.concatenate(lengths) + 2
        if len(self) == 0:
            raise InputError(f"a step takes {sentences} pairs, but there are only {len(self._widths)}.")
        shortest = int(np.sort(self._widths)[:sentences].sum())
        self._fillers = max(0, -(-(tokens - shortest) // longest))

        def on_device(parts: Sequence[NDArray[np.integer]]) -> Tensor:
            return torch.from_numpy(np.concatenate(parts).astype(np.int64)).to(device)

        self._source = on_device([pairs.source for pairs in sets]).int()
        self._target = on_device([pairs.target for pairs in sets]).int()
        self._starts, self._lengths = on_device(starts), on_device(lengths)
        self._places = torch.arange(tokens, device=device)
        self._filled = longest * torch.arange(1, self._fillers + 1, device=device)
        self._nothing = torch.zeros(self._fillers + 1, dtype=torch.long, device=device)

    def __len__(self) -> int:
        """The steps of an epoch; the pairs that are left over, fewer than a step takes, wait for the next."""
        return len(self._widths) // self.sentences

    def order(self, random: np.random.Generator) -> NDArray[np.int64]:
        """The pairs of every step of an epoch, (steps, sentences), in random order.

        Where a step has too many tokens, pairs change places with shorter ones of other steps.

        Raises:
            InputError: the pairs do not fit `tokens`.
        """
        size = len(self), self.sentences
        chosen = random.permutation(len(self._widths))[: size[0] * size[1]].reshape(size)
        widths = self._widths[chosen]
        totals = widths.sum(axis=1)
        for step in np.flatnonzero(totals > self.tokens).tolist():
            for _ in range(_TRIALS):
                if totals[step] <= self.tokens:
                    break
                other, here, there = (int(random.integers(limit)) for limit in (*size, size[1]))
                more = widths[step, here] - widths[other, there]
                if more > 0 and totals[other] + more <= self.tokens:
                    for table in (chosen, widths):
                        table[step, here], table[other, there] = table[other, there], table[step, here]
                    totals[step] -= more
                    totals[other] += more
            else:
                raise InputError(
                    f"{self.sentences} sentences do not fit {self.tokens} tokens; raise packed_tokens."
                )
        return chosen

    def batch(self, chosen: Tensor) -> PackedBatch:
        """The batch of some pairs, (sentences,); its shapes do not depend on them."""
        lengths = self._lengths[chosen]
        ends = (lengths + 2).cumsum(0)
        fillers = (ends[-1] + self._filled).clamp(max=self.tokens)
        edges = torch.cat((self._nothing[:1], ends, fillers))
        row = (self._places[:, None] >= edges[None, 1:]).sum(dim=1)
        position = self._places - edges[row]
        # Rows of [PAD] have no characters.
        length = torch.cat((lengths, self._nothing))[row]
        is_pad = row >= self.sentences
        is_character = (position > 0) & (position <= length) & ~is_pad
        start = torch.cat((self._starts[chosen], self._nothing))[row]
        place = torch.where(is_character, start + position - 1, 0)
        vocabulary = self.vocabulary
        special = torch.where(position == 0, vocabulary.cls, vocabulary.sep)
        special = torch.where(is_pad, vocabulary.pad, special)
        right = self._target[place].long()
        has_target = is_character & (right != vocabulary.unk)
        return PackedBatch(
            ids=torch.where(is_character, self._source[place].long(), special),
            positions=position,
            cumulative=edges.int(),
            slots=row * self.longest + position,
            longest=self.longest,
            targets=torch.where(has_target, right, NO_TARGET),
        )
