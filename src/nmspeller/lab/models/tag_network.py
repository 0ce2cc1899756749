"""Which characters are extra or swapped, and where some are missing: a small network beside the head.

It reads states of four layers, and how likely the head finds each character, the next and the previous one in
its place; convolutions compare neighbours. It can be trained beside the speller or, since it feeds nothing
back, on top of one that stays as it is.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmspeller.lab.models.batch import Batch, PackedBatch
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.lab.models.encoder import dropout
from nmspeller.lab.models.tag_sizes import (
    BLOCKS,
    KINDS,
    LEAST_PROBABILITY,
    LIKELIHOODS,
    NEIGHBOURS,
    states_read,
    tag_width,
)


class TagBlock(nn.Module):
    """A convolution over normalised neighbours, added to its input."""

    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=epsilon)
        self.neighbours = nn.Linear((2 * NEIGHBOURS + 1) * width, 2 * width)
        self.out = nn.Linear(2 * width, width)

    def forward(self, values: Tensor, batch: Batch | PackedBatch) -> Tensor:
        """(..., width) → (..., width), in the batch's layout."""
        normed = self.norm(values)
        seen = [batch.neighbours(normed, distance) for distance in range(-NEIGHBOURS, NEIGHBOURS + 1)]
        added: Tensor = self.out(functional.gelu(self.neighbours(torch.cat(seen, dim=-1))))
        return values + added


class TagNetwork(nn.Module):
    """Layer outputs and scores of a speller → scores of the tags: extra, missing before, swapped.

    It stays in floats in an int8 export. Such errors are rare, so the bias starts where few positions have
    them.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self._read = states_read(config.layers)
        width, epsilon = tag_width(config.hidden), config.norm_epsilon
        self.states = nn.Linear(len(self._read) * config.hidden, width)
        self.likelihoods = nn.Linear(LIKELIHOODS, width)
        self.norm = nn.LayerNorm(width, eps=epsilon)
        self.blocks = nn.ModuleList(TagBlock(width, epsilon) for _ in range(BLOCKS))
        self.output_norm = nn.LayerNorm(width, eps=epsilon)
        self.output = nn.Linear(width, KINDS)
        self.dropout = dropout(config.dropout)
        nn.init.constant_(self.output.bias, -4.0)

    def forward(self, layers: Sequence[Tensor], scores: Tensor, batch: Batch | PackedBatch) -> Tensor:
        """layers: (..., hidden) each, in the batch's layout; scores: (..., vocabulary) → (..., 3)."""
        states = torch.cat([layers[number - 1] for number in self._read], dim=-1)
        return self.tag(states, log_likelihoods(scores.detach(), batch).to(states.dtype), batch)

    def tag(self, states: Tensor, likelihoods: Tensor, batch: Batch | PackedBatch) -> Tensor:
        """The same from what is read: states (..., 4 × hidden), likelihoods (..., 4)."""
        values = self.norm(self.states(self.dropout(states)) + self.likelihoods(likelihoods))
        for block in self.blocks:
            values = block(values, batch)
        tags: Tensor = self.output(self.dropout(self.output_norm(values)))
        return tags


def log_likelihoods(scores: Tensor, batch: Batch | PackedBatch) -> Tensor:
    """(..., vocabulary) → (..., 4): see LIKELIHOODS; zeros at [CLS] and [SEP]."""
    around = (batch.ids, batch.neighbours(batch.ids, 1), batch.neighbours(batch.ids, -1))
    total = scores.float().logsumexp(dim=-1, keepdim=True)
    found = [scores.gather(-1, each.unsqueeze(-1)).float() for each in around]
    logarithms = torch.cat((*found, scores.amax(dim=-1, keepdim=True).float()), dim=-1) - total
    inner = batch.has_neighbour(-1) & batch.has_neighbour(1)
    return logarithms.clamp(min=math.log(LEAST_PROBABILITY)) * inner.unsqueeze(-1)
