"""The parts of a transformer layer: multi-head attention on PyTorch's fused kernels, and feed-forward."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmspeller.lab.models.batch import Batch, PackedBatch
from nmspeller.lab.models.config import EncoderConfig

try:  # torch 2.10 and later
    from torch.nn.attention.varlen import varlen_attn
except ImportError:  # pragma: no cover
    varlen_attn = None  # type: ignore[assignment]


class Dense(nn.Linear):
    """A dense layer that can compute some of its outputs alone; other kinds of arithmetic replace it."""

    def forward(self, input: Tensor, rows: slice | None = None) -> Tensor:
        """(..., inputs) → (..., outputs), or only the outputs of some rows of the weight matrix."""
        weight, bias = self.parameters_of(rows)
        return functional.linear(input, weight, bias)

    def parameters_of(self, rows: slice | None) -> tuple[Tensor, Tensor]:
        """Weight (outputs, inputs) and bias (outputs,) of some rows; of all where None."""
        return (self.weight, self.bias) if rows is None else (self.weight[rows], self.bias[rows])


class Attention(nn.Module):
    """Multi-head attention: Q = query W_Q, K = key_value W_K, V = key_value W_V, then the output projection.

    W_Q, W_K and W_V are one matrix, `qkv`: where the query is the keys' own input, one product makes all.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.qkv = Dense(config.hidden, 3 * config.hidden)
        self.out = Dense(config.hidden, config.hidden)
        self.dropout_probability = config.attention_dropout

    def forward(
        self, query: Tensor, key_value: Tensor, mask: Tensor | None, batch: Batch | PackedBatch
    ) -> Tensor:
        """query, key_value: (..., hidden), in the batch's layout → (..., hidden).

        mask: (rows, length, length) bool over the padded rectangle, True where a query may see a key; where
        None, every real position is seen.
        """
        attended: Tensor = self.out(self.attend(query, key_value, mask, batch))
        return attended

    def attend(
        self, query: Tensor, key_value: Tensor, mask: Tensor | None, batch: Batch | PackedBatch
    ) -> Tensor:
        """The same before the output projection."""
        size = query.shape[-1]
        if query is key_value:
            q, k, v = self.qkv(query).chunk(3, dim=-1)
        else:
            q = self.qkv(query, rows=slice(size))
            k, v = self.qkv(key_value, rows=slice(size, None)).chunk(2, dim=-1)
        dropout = self.dropout_probability if self.training else 0.0
        return attention(q, k, v, batch, self.heads, mask, dropout)


class FeedForward(nn.Module):
    """Dense, exact gelu, dense: (..., hidden) → (..., intermediate) → (..., hidden)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.up = Dense(config.hidden, config.intermediate)
        self.down = Dense(config.intermediate, config.hidden)

    def forward(self, hidden: Tensor) -> Tensor:
        transformed: Tensor = self.down(functional.gelu(self.up(hidden)))
        return transformed


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    batch: Batch | PackedBatch,
    heads: int,
    mask: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """softmax(q kᵀ / √d) v per head, within each row: (..., hidden) → (..., hidden)."""
    q, k, v = (each.unflatten(-1, (heads, -1)) for each in (q, k, v))
    if isinstance(batch, PackedBatch):
        half = q.dtype in (torch.bfloat16, torch.float16)
        if varlen_attn is not None and q.is_cuda and half and mask is None:
            edges, longest = batch.cumulative, batch.longest
            if dropout:
                return _with_dropout(q, k, v, edges, longest, dropout).flatten(-2)
            attended = varlen_attn(q, k, v, edges, edges, longest, longest)
            assert isinstance(attended, Tensor), "it is a pair only where more is asked for"
            return attended.flatten(-2)
        mask = batch.real[:, None] if mask is None else mask
        q, k, v = batch.pad(q), batch.pad(k), batch.pad(v)
    elif mask is None and batch.mask is not None:
        mask = batch.mask[:, None]
    attended = functional.scaled_dot_product_attention(
        q.transpose(1, 2),
        k.transpose(1, 2),
        v.transpose(1, 2),
        attn_mask=None if mask is None else mask[:, None],
        dropout_p=dropout,
    )
    return batch.pack(attended.transpose(1, 2).flatten(-2))


def _with_dropout(q: Tensor, k: Tensor, v: Tensor, edges: Tensor, longest: int, probability: float) -> Tensor:
    """What `varlen_attn` computes, with the dropout that its kernel has and it does not offer."""
    kernel = torch.ops.aten._flash_attention_forward
    attended: Tensor = kernel(q, k, v, edges, edges, longest, longest, probability, False, False)[0]
    return attended
