"""N-gram masking: one transformer layer between the embeddings and the encoder (the paper's section 3.3).

The query at each position is the embedding of [MASK] there. Keys and values are the sentence's embeddings
E_out, and the current character, with or without its neighbours, is masked. So the attention brings to a
position only what the rest of the sentence contains: the label does not leak, and an error there does not
disturb. The residual is still E_out, through which the model sees the character after all; the paper names
this as its limitation.
"""

from collections.abc import Mapping
from typing import Protocol

import torch
from torch import Tensor, nn

from nmspeller.lab.models.attention import Attention, FeedForward
from nmspeller.lab.models.batch import Batch, PackedBatch
from nmspeller.lab.models.config import EncoderConfig, MaskingConfig
from nmspeller.lab.models.encoder import dropout
from nmspeller.lab.models.identity_start import start_as_identity


class MaskEmbeddings(Protocol):
    """Embeddings that can also embed a row of [MASK]."""

    def of_mask(self, batch: Batch | PackedBatch) -> Tensor: ...


class NGramMasking(nn.Module):
    """The layer itself, in the paper's symbols; with `active: training` it is skipped in prediction."""

    def __init__(self, encoder: EncoderConfig, config: MaskingConfig) -> None:
        super().__init__()
        self.config = config
        self.attention = Attention(encoder)  # W_Q, W_K, W_V
        self.attention_norm = nn.LayerNorm(encoder.hidden, eps=encoder.norm_epsilon)
        self.feed_forward = FeedForward(encoder)
        self.output_norm = nn.LayerNorm(encoder.hidden, eps=encoder.norm_epsilon)
        self.dropout = dropout(encoder.dropout)

    def forward(self, E_out: Tensor, batch: Batch | PackedBatch, embeddings: MaskEmbeddings) -> Tensor:
        """E_out: (..., hidden), the embeddings' output → the encoder's input, (..., hidden)."""
        if not self.training and self.config.active == "training":
            return E_out
        E_query = embeddings.of_mask(batch)  # equations 4 to 6: LayerNorm(E_mask + E_pos + E_type), dropout
        AttMask = visible_positions(self.config.masked_offsets, batch.real)  # equations 12 and 13
        # Equations 7 to 11: Q = E_query W_Q, K = E_out W_K, V = E_out W_V, Softmax(Q Kᵀ / √d + AttMask) V
        attended = self.attention(query=E_query, key_value=E_out, mask=AttMask, batch=batch)
        hidden = self.attention_norm(E_out + self.dropout(attended))  # the residual is E_out, not E_query
        output: Tensor = self.output_norm(hidden + self.dropout(self.feed_forward(hidden)))
        return output

    def start(self, first_layer: Mapping[str, Tensor], embeddings_norm: nn.LayerNorm) -> None:
        """Initialise the layer as the config asks: from the first layer's tensors, or as the identity."""
        if self.config.init == "from_layer0":
            self.load_state_dict(first_layer)
        elif self.config.init == "identity":
            start_as_identity(self, embeddings_norm)


def visible_positions(offsets: tuple[int, ...], real: Tensor) -> Tensor:
    """AttMask as booleans: (batch, length), True where real → (batch, length, length), True where visible.

    True stands for the paper's 0 and False for its −10000. Position i does not see i + offset, for each
    offset, nor padding. [CLS] and [SEP] are never masked for another position, because they are never wrong:
    the paper's footnote, applied per row, whatever its padding.
    """
    length = real.shape[1]
    places = torch.arange(length, device=real.device)
    last = real.sum(dim=1, keepdim=True) - 1
    character = (places > 0) & (places < last)
    distance = places[None, :] - places[:, None]
    masked = torch.zeros(1, length, length, dtype=torch.bool, device=real.device)
    for offset in offsets:
        at_offset = (distance == offset)[None]
        masked = masked | (at_offset if offset == 0 else at_offset & character[:, None, :])
    return ~masked & real[:, None, :]
