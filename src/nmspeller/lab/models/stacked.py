"""Several BERTs, or NM-BERTs, of one size computed side by side: each product is one for all of them.

A step of 32 sentences does not fill a large GPU, nor do several trainings that take turns on it. Here their
weights are stacked, so that every matrix product is a batch of products. The spellers know nothing of one
another: each has sentences, dropout and a loss of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmspeller.errors import InputError
from nmspeller.lab.models.attention import Attention, attention
from nmspeller.lab.models.batch import NO_TARGET, PackedBatch
from nmspeller.lab.models.bert import BertSpeller
from nmspeller.lab.models.crf import NEVER
from nmspeller.lab.models.masking import visible_positions
from nmspeller.lab.models.speller import SpellerModel

Weights = Mapping[str, Tensor]
"""By the name that a parameter has in a speller: (spellers, ...)."""

MASKING, WORDS = "semantic.masking", "semantic.embeddings.words.weight"


class StackedSpellers:
    """What several spellers compute in training, as a function of their stacked weights.

    Those with a masking layer come last; its weights are those of these spellers alone.

    Raises:
        InputError: they are not all BERTs of one size.
    """

    def __init__(self, spellers: Sequence[SpellerModel]) -> None:
        masked = [speller.semantic.masking is not None for speller in spellers]
        if not all(
            isinstance(speller, BertSpeller)
            and speller.tags is None
            and not speller.config.encoder.fake_quantised
            for speller in spellers
        ):
            raise InputError("only BERT and NM-BERT can be trained on_device; choose another recipe.")
        if len({repr(replace(speller.config, masking=None)) for speller in spellers}) > 1:
            raise InputError("spellers that are trained together have the same sizes and heads.")
        assert masked == sorted(masked), "those with a masking layer come last"
        # The modules', which a recipe may have changed since the spellers were built.
        modules = list(spellers[0].semantic.modules())
        self.dropout = next((each.p for each in modules if isinstance(each, nn.Dropout)), 0.0)
        self.attention_dropout = next(
            each.dropout_probability for each in modules if isinstance(each, Attention)
        )
        self.spellers = spellers
        self.config = spellers[0].config
        self.plain = masked.count(False)
        self.masked_offsets = [
            speller.semantic.masking.config.masked_offsets
            for speller in spellers
            if speller.semantic.masking is not None
        ]

    def weights(self) -> dict[str, Tensor]:
        """The weights of all spellers, copied; the table of words with rows that are never chosen.

        With these its products have a size that kernels for matrices are fast with.
        """
        everything = [dict(speller.named_parameters()) for speller in self.spellers]
        weights = {
            name: torch.stack([each[name].detach() for each in everything if name in each])
            for name in everything[-1]
        }
        weights[WORDS] = functional.pad(weights[WORDS], (0, 0, 0, -weights[WORDS].shape[1] % 64))
        return weights

    def hand_back(self, weights: Weights) -> None:
        """Give the spellers what `weights` became."""
        for number, speller in enumerate(self.spellers):
            for name, parameter in speller.named_parameters():
                first = self.plain if name.startswith(MASKING) else 0
                parameter.data.copy_(weights[name][number - first, : len(parameter)])

    def losses(self, weights: Weights, batch: PackedBatch) -> Tensor:
        """The loss of each speller, (spellers,), in training.

        batch: of each speller so many tokens, laid end to end.
        """
        encoder = self.config.encoder
        count = len(self.spellers)
        ids, positions = (each.view(count, -1) for each in (batch.ids, batch.positions))
        embedded = _norm(
            _rows(weights[WORDS], ids)
            + _rows(weights["semantic.embeddings.positions.weight"], positions),
            weights, "semantic.embeddings.norm", encoder.norm_epsilon,
        )  # fmt: skip
        hidden = self._drop(embedded)
        if self.plain < count:
            hidden = torch.cat((hidden[: self.plain], self._mask(weights, hidden, batch)))
        for number in range(encoder.layers):
            name = f"semantic.layers.{number}"
            q, k, v = _dense(hidden, weights, f"{name}.attention.qkv").chunk(3, dim=-1)
            hidden = self._rest_of_layer(weights, name, hidden, self._attend(q, k, v, batch, None))
        return _cross_entropies(self._scores(weights, hidden), _targets(batch).view(count, -1))

    def _mask(self, weights: Weights, E_out: Tensor, batch: PackedBatch) -> Tensor:
        """The masking layer of those that have one; see `masking`.

        E_out: (spellers, tokens, hidden) → (spellers with masking, tokens, hidden).
        """
        encoder, first = self.config.encoder, self.plain
        of_mask = (
            weights[WORDS][first:, encoder.mask_id, None]
            + weights["semantic.embeddings.positions.weight"][first:]
        )
        norm = {name: tensor[first:] for name, tensor in weights.items() if ".embeddings.norm." in name}
        of_mask = _norm(of_mask, norm, "semantic.embeddings.norm", encoder.norm_epsilon)
        own = _part(batch, first, len(self.spellers))
        E_query = self._drop(_rows(of_mask, own.positions.view(len(self.spellers) - first, -1)))
        real = own.real.view(len(self.spellers) - first, -1, own.longest)
        visible = [
            visible_positions(offsets, rows) for offsets, rows in zip(self.masked_offsets, real, strict=True)
        ]
        qkv, size = f"{MASKING}.attention.qkv", encoder.hidden
        q = _dense(E_query, weights, qkv, slice(size))
        k, v = _dense(E_out[first:], weights, qkv, slice(size, None)).chunk(2, dim=-1)
        return self._rest_of_layer(
            weights, MASKING, E_out[first:], self._attend(q, k, v, own, torch.cat(visible))
        )

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, batch: PackedBatch, mask: Tensor | None) -> Tensor:
        """Attention within each row, (spellers, tokens, hidden)."""
        q_rows, k_rows, v_rows = (each.flatten(0, 1) for each in (q, k, v))
        attended = attention(
            q_rows, k_rows, v_rows, batch, self.config.encoder.heads, mask, self.attention_dropout
        )
        return attended.view(q.shape)

    def _rest_of_layer(self, weights: Weights, name: str, residual: Tensor, attended: Tensor) -> Tensor:
        """What follows attention in a transformer layer: (spellers, tokens, hidden)."""
        epsilon = self.config.encoder.norm_epsilon
        attended = self._drop(_dense(attended, weights, f"{name}.attention.out"))
        hidden = _norm(residual + attended, weights, f"{name}.attention_norm", epsilon)
        inner = functional.gelu(_dense(hidden, weights, f"{name}.feed_forward.up"))
        output = self._drop(_dense(inner, weights, f"{name}.feed_forward.down"))
        return _norm(hidden + output, weights, f"{name}.output_norm", epsilon)

    def _scores(self, weights: Weights, hidden: Tensor) -> Tensor:
        """(spellers, tokens, hidden) → (spellers, tokens, vocabulary), with columns that are never chosen."""
        if self.config.head == "mlm":
            hidden = functional.gelu(_dense(hidden, weights, "head.dense"))
            hidden = _norm(hidden, weights, "head.norm", self.config.encoder.norm_epsilon)
        else:
            hidden = self._drop(hidden)
        words, bias = weights[WORDS].to(_precision(weights)), weights["head.output.bias"]
        bias = functional.pad(bias, (0, words.shape[1] - bias.shape[1]), value=NEVER)
        return _product(hidden, words) + bias[:, None].to(words.dtype)

    def _drop(self, values: Tensor) -> Tensor:
        return functional.dropout(values, self.dropout)


def laid_end_to_end(batches: Sequence[PackedBatch]) -> PackedBatch:
    """One batch of the rows of several that have as many rows and tokens each."""
    tokens, rows = len(batches[0].ids), len(batches[0].cumulative) - 1
    starts = [each.cumulative[:-1] + number * tokens for number, each in enumerate(batches)]
    end = batches[-1].cumulative[-1:] + (len(batches) - 1) * tokens
    slots = [each.slots + number * rows * each.longest for number, each in enumerate(batches)]
    return PackedBatch(
        ids=torch.cat([each.ids for each in batches]),
        positions=torch.cat([each.positions for each in batches]),
        cumulative=torch.cat([*starts, end]),
        slots=torch.cat(slots),
        longest=batches[0].longest,
        targets=torch.cat([_targets(each) for each in batches]),
    )


def _part(batch: PackedBatch, first: int, count: int) -> PackedBatch:
    """What `laid_end_to_end` made of the batches from the one numbered `first` on, without targets."""
    tokens, rows = len(batch.ids) // count, (len(batch.cumulative) - 1) // count
    return PackedBatch(
        ids=batch.ids[first * tokens :],
        positions=batch.positions[first * tokens :],
        cumulative=batch.cumulative[first * rows :] - first * tokens,
        slots=batch.slots[first * tokens :] - first * rows * batch.longest,
        longest=batch.longest,
    )


def _targets(batch: PackedBatch) -> Tensor:
    assert batch.targets is not None
    return batch.targets


def _rows(tables: Tensor, indices: Tensor) -> Tensor:
    """tables: (spellers, rows, hidden), indices: (spellers, tokens) → (spellers, tokens, hidden)."""
    first = torch.arange(len(tables), device=tables.device)[:, None] * tables.shape[1]
    return functional.embedding(indices + first, tables.flatten(0, 1))


def _dense(inputs: Tensor, weights: Weights, name: str, rows: slice = slice(None)) -> Tensor:
    """(spellers, tokens, inputs) → (spellers, tokens, outputs), or some rows of the outputs alone."""
    weight = weights[f"{name}.weight"][:, rows]
    return _product(inputs, weight) + weights[f"{name}.bias"][:, None, rows].to(weight.dtype)


def _precision(weights: Weights) -> torch.dtype:
    """What dense layers are computed in."""
    return weights["semantic.layers.0.attention.out.weight"].dtype


def _product(inputs: Tensor, weight: Tensor) -> Tensor:
    """(spellers, tokens, inputs), (spellers, outputs, inputs) → (spellers, tokens, outputs)."""
    product: Tensor = _Product.apply(inputs.to(weight.dtype), weight)  # type: ignore[no-untyped-call]
    return product


class _Product(torch.autograd.Function):
    """inputs Wᵀ, (spellers, tokens, outputs), whose gradient of W lies in memory as W does.

    That of `bmm` is transposed, and an optimiser that reads both would have to copy it first.
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        return torch.bmm(inputs, weight.mT)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        inputs, weight = ctx.saved_tensors
        return torch.bmm(gradient, weight), torch.bmm(gradient.mT, inputs)


def _norm(inputs: Tensor, weights: Weights, name: str, epsilon: float) -> Tensor:
    """Layer normalisation in single precision, (spellers, tokens, hidden)."""
    normed = functional.layer_norm(inputs.float(), inputs.shape[-1:], eps=epsilon)
    return normed * weights[f"{name}.weight"][:, None] + weights[f"{name}.bias"][:, None]


def _cross_entropies(scores: Tensor, targets: Tensor) -> Tensor:
    """(spellers, tokens, vocabulary), (spellers, tokens) → the mean over the targets of each, (spellers,)."""
    losses = functional.cross_entropy(
        scores.flatten(0, 1).float(), targets.flatten(), ignore_index=NO_TARGET, reduction="none"
    )
    counts = (targets != NO_TARGET).sum(dim=1).clamp(min=1)
    return losses.view(targets.shape).sum(dim=1) / counts
