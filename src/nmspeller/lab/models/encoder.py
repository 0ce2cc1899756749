"""BERT's encoder (post-norm, exact gelu) on PyTorch's fused attention."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmspeller.lab.models.batch import Batch, PackedBatch
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.lab.models.fake_quantisation import dense, fake_quantise_rows

try:  # torch 2.10 and later
    from torch.nn.attention.varlen import varlen_attn
except ImportError:  # pragma: no cover
    varlen_attn = None  # type: ignore[assignment]


def dropout(probability: float) -> nn.Module:
    """A dropout that costs nothing where it does nothing."""
    return nn.Dropout(probability) if probability else nn.Identity()


class Embeddings(nn.Module):
    """Words + positions, normalised; token types are folded into the positions (see names.py)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.mask_id, self.rounded = config.mask_id, config.fake_quantised
        self.words = nn.Embedding(config.vocabulary, config.hidden)
        self.positions = nn.Embedding(config.positions, config.hidden)
        self.norm = nn.LayerNorm(config.hidden, eps=config.norm_epsilon)
        self.dropout = dropout(config.dropout)

    def forward(self, batch: Batch | PackedBatch) -> Tensor:
        """E_out: (..., hidden), with the batch's layout."""
        words = functional.embedding(batch.ids, self.table())
        return self.dropout(self.norm(words + self.positions(batch.positions)))

    def table(self) -> Tensor:
        """What stands for each character: (vocabulary, hidden)."""
        return fake_quantise_rows(self.words.weight) if self.rounded else self.words.weight

    def of_mask(self, batch: Batch | PackedBatch) -> Tensor:
        """The same as if every token were [MASK]: (..., hidden), with the batch's layout."""
        embedded = self.norm(self.table()[self.mask_id] + self.positions(batch.positions))
        return self.dropout(embedded.expand(*batch.ids.shape, -1))


class Layer(nn.Module):
    """One transformer layer; queries may come from elsewhere, and `visible` may hide more than padding."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.qkv = dense(config, config.hidden, 3 * config.hidden)
        self.out = dense(config, config.hidden, config.hidden)
        self.attention_norm = nn.LayerNorm(config.hidden, eps=config.norm_epsilon)
        self.up = dense(config, config.hidden, config.intermediate)
        self.down = dense(config, config.intermediate, config.hidden)
        self.output_norm = nn.LayerNorm(config.hidden, eps=config.norm_epsilon)
        self.dropout = dropout(config.dropout)
        self.attention_dropout = config.attention_dropout

    def forward(
        self,
        hidden: Tensor,
        batch: Batch | PackedBatch,
        query: Tensor | None = None,
        visible: Tensor | None = None,
    ) -> Tensor:
        """(..., hidden) → (..., hidden).

        query: (..., hidden), what asks; `hidden` itself where None. The residual is always `hidden`.
        visible: (rows, length, length) bool over the padded rectangle; where None, every real position.
        """
        attended = self.attend(hidden, batch, query, visible)
        hidden = self.attention_norm(hidden + self.dropout(self.out(attended)))
        return self.output_norm(hidden + self.dropout(self.down(functional.gelu(self.up(hidden)))))

    def attend(
        self, hidden: Tensor, batch: Batch | PackedBatch, query: Tensor | None, visible: Tensor | None
    ) -> Tensor:
        """Multi-head attention before its output projection: (..., hidden)."""
        if query is None:
            q, k, v = self.qkv(hidden).chunk(3, dim=-1)
        else:
            size = hidden.shape[-1]
            q = functional.linear(query, self.qkv.weight[:size], self.qkv.bias[:size])
            k, v = functional.linear(hidden, self.qkv.weight[size:], self.qkv.bias[size:]).chunk(2, dim=-1)
        return attention(
            q, k, v, batch, self.heads, visible, self.attention_dropout if self.training else 0.0
        )


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    batch: Batch | PackedBatch,
    heads: int,
    visible: Tensor | None = None,
    drop: float = 0.0,
) -> Tensor:
    """softmax(q kᵀ / √d) v per head, within each row: (..., hidden) → (..., hidden)."""
    q, k, v = (each.unflatten(-1, (heads, -1)) for each in (q, k, v))
    if isinstance(batch, PackedBatch):
        half = q.dtype in (torch.bfloat16, torch.float16)
        if varlen_attn is not None and q.is_cuda and half and visible is None and not drop:
            edges, longest = batch.cumulative, batch.longest
            attended: Any = varlen_attn(q, k, v, edges, edges, longest, longest)
            return attended.flatten(-2)
        visible = batch.real[:, None] if visible is None else visible
        q, k, v = batch.pad(q), batch.pad(k), batch.pad(v)
    elif visible is None and batch.mask is not None:
        visible = batch.mask[:, None]
    attended = functional.scaled_dot_product_attention(
        q.transpose(1, 2),
        k.transpose(1, 2),
        v.transpose(1, 2),
        attn_mask=None if visible is None else visible[:, None],
        dropout_p=drop,
    )
    return batch.pack(attended.transpose(1, 2).flatten(-2))


def stack(config: EncoderConfig, layers: int) -> nn.ModuleList:
    """Layers of one size, for encoders that come after or beside BERT."""
    return nn.ModuleList(Layer(config) for _ in range(layers))


def run(layers: nn.ModuleList, hidden: Tensor, batch: Batch | PackedBatch) -> Tensor:
    """(..., hidden) through every layer."""
    for layer in layers:
        hidden = layer(hidden, batch)
    return hidden


def initialise(module: nn.Module) -> None:
    """BERT's start: normal(0, 0.02) matrices, zero biases, unit norms."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
