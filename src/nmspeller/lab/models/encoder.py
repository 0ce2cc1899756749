"""BERT's encoder: embeddings and post-norm transformer layers."""

from torch import Tensor, nn
from torch.nn import functional

from nmspeller.lab.models.attention import Attention, FeedForward
from nmspeller.lab.models.batch import Batch, PackedBatch
from nmspeller.lab.models.config import EncoderConfig


def dropout(probability: float) -> nn.Module:
    """Dropout, or no module at all for a probability of 0."""
    return nn.Dropout(probability) if probability else nn.Identity()


class WordEmbedding(nn.Embedding):
    """The table of character vectors, which embeds the input and, tied, scores the output."""

    def table(self) -> Tensor:
        """(vocabulary, hidden)"""
        return self.weight

    def forward(self, input: Tensor) -> Tensor:
        """(...) ids → (..., hidden)"""
        return functional.embedding(input, self.table())


class Embeddings(nn.Module):
    """Words + positions, normalised; token types are folded into the positions (see names.py)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.mask_id = config.mask_id
        self.words = WordEmbedding(config.vocabulary, config.hidden)
        self.positions = nn.Embedding(config.positions, config.hidden)
        self.norm = nn.LayerNorm(config.hidden, eps=config.norm_epsilon)
        self.dropout = dropout(config.dropout)

    def forward(self, batch: Batch | PackedBatch) -> Tensor:
        """E_out: (..., hidden), in the batch's layout (equations 1 to 3 of the paper)."""
        embedded: Tensor = self.dropout(self.norm(self.words(batch.ids) + self.positions(batch.positions)))
        return embedded

    def of_mask(self, batch: Batch | PackedBatch) -> Tensor:
        """E_query: the same with [MASK] at every position, (..., hidden) (equations 4 to 6)."""
        normed = self.norm(self.words.table()[self.mask_id] + self.positions(batch.positions))
        embedded: Tensor = self.dropout(normed.expand(*batch.ids.shape, -1))
        return embedded


class Layer(nn.Module):
    """One transformer layer: attention and feed-forward, each followed by residual and norm."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.attention = Attention(config)
        self.attention_norm = nn.LayerNorm(config.hidden, eps=config.norm_epsilon)
        self.feed_forward = FeedForward(config)
        self.output_norm = nn.LayerNorm(config.hidden, eps=config.norm_epsilon)
        self.dropout = dropout(config.dropout)

    def forward(self, hidden: Tensor, batch: Batch | PackedBatch) -> Tensor:
        """(..., hidden) → (..., hidden), in the batch's layout."""
        attended = self.attention(query=hidden, key_value=hidden, mask=None, batch=batch)
        hidden = self.attention_norm(hidden + self.dropout(attended))
        output: Tensor = self.output_norm(hidden + self.dropout(self.feed_forward(hidden)))
        return output


def stack(config: EncoderConfig, layers: int) -> nn.ModuleList:
    """Layers of one size, for encoders that come after or beside BERT."""
    return nn.ModuleList(Layer(config) for _ in range(layers))


def run(layers: nn.ModuleList, hidden: Tensor, batch: Batch | PackedBatch) -> Tensor:
    """(..., hidden) through every layer."""
    for layer in layers:
        hidden = layer(hidden, batch)
    return hidden


def initialise(module: nn.Module) -> None:
    """BERT's initial values: normal(0, 0.02) matrices, zero biases, unit norms."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
