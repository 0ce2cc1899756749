"""What every speller is: a semantic encoder, something on top, and one interface."""

from collections.abc import Collection
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmspeller.lab.data.alignment import EXTRA, MISSING, SWAPPED
from nmspeller.lab.models.attention import Dense
from nmspeller.lab.models.batch import NO_TARGET, Batch, PackedBatch
from nmspeller.lab.models.config import EncoderConfig, MaskingConfig, SpellerConfig
from nmspeller.lab.models.crf import NEVER
from nmspeller.lab.models.encoder import Embeddings, dropout, initialise, run, stack
from nmspeller.lab.models.masking import NGramMasking
from nmspeller.lab.models.tag_network import TagNetwork


class SemanticEncoder(nn.Module):
    """Embeddings → n-gram masking, where there is any → BERT's layers."""

    def __init__(self, config: EncoderConfig, masking: MaskingConfig | None) -> None:
        super().__init__()
        self.embeddings = Embeddings(config)
        self.masking = NGramMasking(config, masking) if masking else None
        self.layers = stack(config, config.layers)
        self.apply(initialise)
        self.start_masking()

    def forward(self, batch: Batch | PackedBatch) -> Tensor:
        """H_s: (..., hidden), in the batch's layout."""
        return run(self.layers, self._before_layers(batch), batch)

    def layer_outputs(self, batch: Batch | PackedBatch) -> list[Tensor]:
        """Each layer's output, (..., hidden) each; the last is H_s."""
        hidden, outputs = self._before_layers(batch), []
        for layer in self.layers:
            hidden = layer(hidden, batch)
            outputs.append(hidden)
        return outputs

    def _before_layers(self, batch: Batch | PackedBatch) -> Tensor:
        hidden: Tensor = self.embeddings(batch)
        return hidden if self.masking is None else self.masking(hidden, batch, self.embeddings)

    def start_masking(self) -> None:
        """Initialise the masking layer again: its start may depend on the layers' weights."""
        if self.masking is not None:
            self.masking.start(self.layers[0].state_dict(), self.embeddings.norm)


class OutputLayer(nn.Module):
    """Scores over the vocabulary: the product with the word embeddings, which are shared, plus a bias."""

    def __init__(self, hidden: int, vocabulary: int, dropout_probability: float) -> None:
        super().__init__()
        self.hidden = hidden
        self.dropout = dropout(dropout_probability)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, hidden: Tensor, words: Tensor, *, aligned: bool = False) -> Tensor:
        """hidden: (..., hidden), words: (vocabulary, hidden) → (..., vocabulary).

        aligned: add columns that are never chosen up to a multiple of 64, which fast kernels want.
        """
        bias: Tensor = self.bias
        if aligned:
            missing = -len(words) % 64
            words = functional.pad(words, (0, 0, 0, missing))
            bias = functional.pad(bias, (0, missing), value=NEVER)
        return functional.linear(self.dropout(hidden), words, bias)


class Head(nn.Module):
    """Hidden states → scores over the vocabulary.

    `mlm` is BERT's masked-language-model head (dense, gelu, norm first); `linear` is the paper's dense layer.
    """

    def __init__(self, config: SpellerConfig) -> None:
        super().__init__()
        encoder, pretrained = config.encoder, config.head == "mlm"
        self.dense = Dense(encoder.hidden, encoder.hidden) if pretrained else None
        self.norm = nn.LayerNorm(encoder.hidden, eps=encoder.norm_epsilon) if pretrained else None
        self.output = OutputLayer(encoder.hidden, encoder.vocabulary, 0.0 if pretrained else encoder.dropout)
        self.apply(initialise)

    def forward(self, hidden: Tensor, words: Tensor, *, aligned: bool = False) -> Tensor:
        """(..., hidden) → (..., vocabulary); the other arguments are `OutputLayer`'s."""
        scores: Tensor = self.output(self._transformed(hidden), words, aligned=aligned)
        return scores

    def source_scores(self, hidden: Tensor, words: Tensor, ids: Tensor) -> Tensor:
        """The score of each source character alone: hidden (..., hidden), ids (...) → (...)."""
        return (self._transformed(hidden) * words[ids]).sum(-1) + self.output.bias[ids]

    def _transformed(self, hidden: Tensor) -> Tensor:
        if self.dense is None or self.norm is None:
            return hidden
        transformed: Tensor = self.norm(functional.gelu(self.dense(hidden)))
        return transformed


TAG_WEIGHT = 2.0
"""The weight of the tags' loss beside that of the characters."""


class Outputs(NamedTuple):
    """What a speller computes for a batch, in the batch's layout.

    layers: what its layers put out, (..., hidden) each; the last is the head's input.
    scores: (..., vocabulary); tags: (..., 3) scores of extra, missing before, swapped, in models with tags.
    """

    layers: list[Tensor]
    scores: Tensor
    tags: Tensor | None


class SpellerModel(nn.Module):
    """The interface: `forward`, `loss`, `predict`, for padded and packed batches alike."""

    needs: ClassVar[tuple[str, ...]] = ()
    """The names of the arrays of `CharacterTables` that this speller uses."""
    new_parameters: Collection[str] = ()
    """The names of the parameters that were not loaded when the training started; see `OptimiserConfig`."""

    def __init__(self, config: SpellerConfig) -> None:
        super().__init__()
        self.config = config
        self.semantic = SemanticEncoder(config.encoder, config.masking)
        self.head = Head(config)
        self.tags = TagNetwork(config.encoder) if config.tags else None

    def start_new_layers(self, loaded: Collection[str]) -> None:
        """Initialise the layers whose start depends on other weights, and that were not loaded themselves.

        loaded: the names of the tensors that were.
        """
        if not any(name.startswith("semantic.masking.") for name in loaded):
            self.semantic.start_masking()

    def hidden(self, batch: Batch | PackedBatch) -> Tensor:
        """The head's input: (..., hidden). Spellers that enrich the semantic encoding do it here."""
        encoded: Tensor = self.semantic(batch)
        return encoded

    def output_words(self) -> Tensor:
        """The head's matrix: (vocabulary, hidden)."""
        return self.semantic.embeddings.words.table()

    def forward(self, batch: Batch | PackedBatch) -> Tensor:
        """Scores: (..., vocabulary)."""
        scores: Tensor = self.head(self.hidden(batch), self.output_words())
        return scores

    def outputs(self, batch: Batch | PackedBatch, *, aligned: bool = False) -> Outputs:
        """Everything at once; aligned: as for `OutputLayer`.

        A speller that enriches the semantic encoding has no layers but what it hands to the head.
        """
        enriched = type(self).hidden is not SpellerModel.hidden
        layers = [self.hidden(batch)] if enriched else self.semantic.layer_outputs(batch)
        scores = self.head(layers[-1], self.output_words(), aligned=aligned)
        tags = None if self.tags is None else self.tags(layers, scores, batch)
        return Outputs(layers, scores, tags)

    def source_scores(self, batch: Batch | PackedBatch) -> Tensor:
        """The score of each position's own character: (...); what a prefilter decides by."""
        scores: Tensor = self.head.source_scores(self.hidden(batch), self.output_words(), batch.ids)
        return scores

    def loss(self, batch: Batch | PackedBatch) -> Tensor:
        """Mean cross-entropy in fp32 over the positions that have a target; 0 where none has."""
        assert batch.targets is not None
        found = self.outputs(batch, aligned=True)
        loss = cross_entropy(found.scores, batch.targets)
        if found.tags is not None and batch.tags is not None:
            loss = loss + TAG_WEIGHT * tag_loss(found.tags, batch.tags)
        return loss

    @torch.no_grad()
    def predict(self, batch: Batch | PackedBatch) -> tuple[Tensor, Tensor]:
        """The best id at each position and its probability, both (...); call `eval()` first."""
        best = self(batch).float().softmax(dim=-1).max(dim=-1)
        return best.indices, best.values

    @torch.no_grad()
    def predict_tags(self, batch: Batch | PackedBatch) -> Tensor:
        """The probabilities of extra, missing before and swapped, (..., 3); for models with tags."""
        tags = self.outputs(batch).tags
        assert tags is not None
        return tags.float().sigmoid()


def cross_entropy(scores: Tensor, targets: Tensor) -> Tensor:
    """scores: (..., classes), targets: (...), -100 where there is none → the mean over the rest, in fp32."""
    total = functional.cross_entropy(
        scores.flatten(0, -2).float(), targets.flatten(), ignore_index=NO_TARGET, reduction="sum"
    )
    return total / (targets != NO_TARGET).sum().clamp(min=1)


def tag_loss(scores: Tensor, tags: Tensor, expected: Tensor | None = None) -> Tensor:
    """Binary cross-entropy of the tags, in fp32: the sum of the three, the mean over labelled positions.

    scores: (..., 3); tags: (...) of bits, -100 where there is no label; expected: (..., 3) probabilities to
    learn instead of the bits, where a teacher gives some.
    """
    has_label = tags != NO_TARGET
    if expected is None:
        expected = tag_bits(tags)
    losses = functional.binary_cross_entropy_with_logits(scores.float(), expected, reduction="none").sum(-1)
    return (losses * has_label).sum() / has_label.sum().clamp(min=1)


def tag_bits(tags: Tensor) -> Tensor:
    """(...) of bits → (..., 3): 1.0 where the bit is set; 0 where there is no label."""
    labelled = tags.clamp(min=0)
    return torch.stack([labelled & bit for bit in (EXTRA, MISSING, SWAPPED)], dim=-1).bool().float()
