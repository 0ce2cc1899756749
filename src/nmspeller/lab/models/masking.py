"""N-gram masking: one transformer layer between the embeddings and the encoder (the paper's section 3.3).

The query at each position is the embedding of [MASK] there; keys and values are the sentence's embeddings
E_out, and the current character, with or without its neighbours, is hidden. So what the attention brings to a
position comes from elsewhere in the sentence: neither the answer leaks nor does an error there disturb. The
residual is still E_out, by which the model can see the character after all, as the paper's limitations say.
"""

from typing import Protocol

import torch
from torch import Tensor, nn

from nmspeller.lab.models.batch import Batch, PackedBatch
from nmspeller.lab.models.config import EncoderConfig, MaskingConfig
from nmspeller.lab.models.encoder import Layer


class MasksEmbedded(Protocol):
    """Embeddings that can also embed a row of [MASK]."""

    def of_mask(self, batch: Batch | PackedBatch) -> Tensor: ...


def visible_positions(offsets: tuple[int, ...], real: Tensor) -> Tensor:
    """Which positions each position may see: (batch, length) bool, True where real → (batch, length, length).

    Position i does not see i + offset, for each offset, nor padding. [CLS] and [SEP] are never hidden from
    another position, because they are never wrong: the paper's footnote, per row, whatever its padding.
    """
    length = real.shape[1]
    places = torch.arange(length, device=real.device)
    last = real.sum(dim=1, keepdim=True) - 1
    character = (places > 0) & (places < last)
    distance = places[None, :] - places[:, None]
    hidden = torch.zeros(1, length, length, dtype=torch.bool, device=real.device)
    for offset in offsets:
        at_offset = (distance == offset)[None]
        hidden = hidden | (at_offset if offset == 0 else at_offset & character[:, None, :])
    return ~hidden & real[:, None, :]


class NGramMasking(nn.Module):
    """The layer itself; with `active: training` it is skipped in prediction."""

    def __init__(self, encoder: EncoderConfig, config: MaskingConfig) -> None:
        super().__init__()
        self.config = config
        self.layer = Layer(encoder)

    def forward(self, embedded: Tensor, batch: Batch | PackedBatch, embeddings: MasksEmbedded) -> Tensor:
        """embedded: E_out, (..., hidden); embeddings: what made it, and makes the query from [MASK]."""
        if not self.training and self.config.active == "training":
            return embedded
        visible = visible_positions(self.config.masked_offsets, batch.real)
        return self.layer(embedded, batch, query=embeddings.of_mask(batch), visible=visible)

    def start_from(self, first: Layer) -> None:
        """Begin as a copy of the encoder's first layer, where the config asks for it."""
        if self.config.init == "from_layer0":
            self.layer.load_state_dict(first.state_dict())
