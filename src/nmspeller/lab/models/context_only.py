"""A speller that reads only the context: in no layer does a position see its own character.

The paper's masking layer hides a character once; through the residual and the layers above it, a position
still sees itself. Here the query at each position starts as the embedding of [MASK], and the keys and values
of every layer are the embeddings of the other positions, which know of no character but their own. So all
positions are predicted from the rest of the sentence in one pass (as in the transformer-based text
autoencoder of Shin et al. 2020). It has BERT's weights, by the same names, and can start from a BERT.
"""

from collections.abc import Iterable
from typing import cast

from torch import Tensor

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import Batch, PackedBatch
from nmspeller.lab.models.config import SpellerConfig
from nmspeller.lab.models.encoder import Layer
from nmspeller.lab.models.masking import visible_positions
from nmspeller.lab.models.speller import SemanticEncoder, SpellerModel

_ITSELF = (0,)


class ContextEncoder(SemanticEncoder):
    """BERT's layers, over queries that never contain the character of their own position."""

    def forward(self, batch: Batch | PackedBatch) -> Tensor:
        """(..., hidden), in the batch's layout."""
        E_out = self.embeddings(batch)
        hidden = self.embeddings.of_mask(batch)
        visible = visible_positions(_ITSELF, batch.real)
        for layer in cast(Iterable[Layer], self.layers):
            attended = layer.attention(query=hidden, key_value=E_out, mask=visible, batch=batch)
            hidden = layer.attention_norm(hidden + layer.dropout(attended))
            hidden = layer.output_norm(hidden + layer.dropout(layer.feed_forward(hidden)))
        return hidden


class ContextSpeller(SpellerModel):
    """BERT with the context encoder: the scores of each position say what the context alone suggests."""

    def __init__(self, config: SpellerConfig) -> None:
        if config.masking is not None:
            raise InputError("the context speller needs no masking layer; leave `masking` out.")
        super().__init__(config)
        self.semantic = ContextEncoder(config.encoder, None)
