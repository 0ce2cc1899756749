"""DCN (Wang et al., 2021) and NM-DCN: neighbouring corrections are chosen together.

A generator, which also uses the pinyin of the input, proposes the k best characters at each position; the
dynamic connected scorer scores each pair of neighbouring candidates in context; the best path through them is
the answer. The loss is the negative log-probability of the right path among all paths, as in the original
code, averaged over sentences. Unlike there, a candidate that is both among the k best and added (the target
in training, the input in prediction) counts once.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmspeller.errors import InputError
from nmspeller.lab.models import crf
from nmspeller.lab.models.batch import NO_TARGET, Batch, PackedBatch
from nmspeller.lab.models.characters import TableBuffers
from nmspeller.lab.models.config import EncoderConfig, SpellerConfig
from nmspeller.lab.models.encoder import initialise
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.models.tables import CharacterTables


@dataclass(frozen=True)
class DCNConfig(SpellerConfig):
    candidates: int = 8
    syllables: int = 512
    """The size of the embedding; Mandarin has about 410 syllables without tones."""


class PinyinEnhancement(nn.Module):
    """Adds a convolution over the syllables of three neighbouring characters to the hidden states."""

    def __init__(self, config: EncoderConfig, syllables: int) -> None:
        super().__init__()
        self.syllables = nn.Embedding(syllables, config.hidden)
        self.convolution = nn.Conv1d(config.hidden, config.hidden, kernel_size=3, padding=1)
        self.norm = nn.LayerNorm(config.hidden, eps=config.norm_epsilon)
        self.apply(initialise)

    def forward(self, hidden: Tensor, syllables: Tensor, batch: Batch | PackedBatch) -> Tensor:
        """hidden: (..., hidden), syllables: (...) ids → (..., hidden)."""
        sounds = batch.pad(self.syllables(syllables)) * batch.real[..., None]
        convolved = self.convolution(sounds.transpose(1, 2)).transpose(1, 2)
        enhanced: Tensor = self.norm(hidden + batch.pack(convolved))
        return enhanced


class ConnectedScorer(nn.Module):
    """Scores pairs of neighbouring candidates.

    Each candidate attends to its own and its neighbour's hidden state; the score is a map of both results
    together. The map of a concatenation is the sum of two maps, so that only the last steps need k × k ×
    hidden numbers.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        size = config.hidden
        self.query = nn.Linear(size, size)
        self.key = nn.Linear(size, size)
        self.value = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size, eps=config.norm_epsilon)
        self.left = nn.Linear(size, size)
        self.right = nn.Linear(size, size, bias=False)
        self.pair_norm = nn.LayerNorm(size, eps=config.norm_epsilon)
        self.rate = nn.Linear(size, 1)
        self.apply(initialise)

    def forward(self, candidates: Tensor, hidden: Tensor) -> Tensor:
        """(..., length, k, hidden) and (..., length, hidden) → (..., length, k, k), each place with the next.

        Rows may be packed end to end: what the end of one and the start of the next score has no meaning.
        The last place has no next one; its scores are zero.
        """
        keys, values = self.key(hidden), self.value(hidden)
        keys = torch.stack([keys[..., :-1, :], keys[..., 1:, :]], dim=-2)  # (..., length - 1, 2, hidden)
        values = torch.stack([values[..., :-1, :], values[..., 1:, :]], dim=-2)
        queries = self.query(candidates)
        first = self._attend(candidates[..., :-1, :, :], queries[..., :-1, :, :], keys, values)
        second = self._attend(candidates[..., 1:, :, :], queries[..., 1:, :, :], keys, values)
        pairs = functional.gelu(self.left(first)[..., :, None, :] + self.right(second)[..., None, :, :])
        scores = self.rate(self.pair_norm(pairs)).squeeze(-1)
        return functional.pad(scores, (0, 0, 0, 0, 0, 1))

    def _attend(self, candidates: Tensor, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        weights = torch.softmax(queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1]), dim=-1)
        attended: Tensor = self.norm(weights.to(values.dtype) @ values + candidates)
        return attended


class Lattice(NamedTuple):
    """The inputs of `crf`; ids, like emissions, are (batch, length, k)."""

    ids: Tensor
    emissions: Tensor
    transitions: Tensor
    real: Tensor


class DCN(SpellerModel):
    """`forward` gives the generator's scores; `loss` and `predict` are about paths. Masked: NM-DCN."""

    needs: ClassVar[tuple[str, ...]] = ("syllables",)

    def __init__(self, config: DCNConfig, tables: CharacterTables) -> None:
        super().__init__(config)
        if tables.syllables.max() >= config.syllables:
            raise InputError(
                f"the tables have {tables.syllables.max() + 1} syllables; set model.syllables to it."
            )
        self.tables = TableBuffers(tables, self.needs)
        self.candidates = config.candidates
        self.pinyin = PinyinEnhancement(config.encoder, config.syllables)
        self.scorer = ConnectedScorer(config.encoder)

    def hidden(self, batch: Batch | PackedBatch) -> Tensor:
        return self._enhanced(self.semantic(batch), batch)

    def _enhanced(self, semantic: Tensor, batch: Batch | PackedBatch) -> Tensor:
        enhanced: Tensor = self.pinyin(semantic, self.tables.syllables[batch.ids].long(), batch)
        return enhanced

    def loss(self, batch: Batch | PackedBatch) -> Tensor:
        """−log P(right path), averaged over sentences, in fp32; where there is no target, the input is it."""
        assert batch.targets is not None
        target = torch.where(batch.targets == NO_TARGET, batch.ids, batch.targets)
        lattice = self._lattice(batch, target)
        path = torch.full_like(lattice.ids[..., 0], self.candidates)  # the added one comes last
        steps = lattice.emissions, lattice.transitions, lattice.real
        return (crf.log_partition(*steps) - crf.path_score(*steps, path)).mean()

    @torch.no_grad()
    def predict(self, batch: Batch | PackedBatch) -> tuple[Tensor, Tensor]:
        """The best path's ids and their probabilities over all paths; [CLS] and [SEP] stay as they are."""
        if batch.real.shape[1] <= 2:  # nothing between [CLS] and [SEP]
            return batch.ids, torch.ones_like(batch.ids, dtype=torch.float32)
        lattice = self._lattice(batch, batch.ids)
        steps = lattice.emissions, lattice.transitions, lattice.real
        path = crf.best_path(*steps)[..., None]
        inside = functional.pad(lattice.real, (1, 1))  # [CLS] in front, [SEP] behind
        ids = functional.pad(lattice.ids.gather(-1, path).squeeze(-1), (1, 1))
        probabilities = functional.pad(crf.marginals(*steps).gather(-1, path).squeeze(-1), (1, 1))
        ids = torch.where(inside, ids, batch.pad(batch.ids))
        probabilities = torch.where(inside, probabilities, torch.ones_like(probabilities))
        return batch.pack(ids), batch.pack(probabilities)

    def _lattice(self, batch: Batch | PackedBatch, added: Tensor) -> Lattice:
        """The k best candidates, and `added` (...) as one more, at each place between [CLS] and [SEP]."""
        semantic = self.semantic(batch)
        words = self.output_words()
        scores = self.head(self._enhanced(semantic, batch), words).float()
        best = scores.topk(self.candidates, dim=-1)
        added = added[..., None]
        emissions = best.values.masked_fill(best.indices == added, crf.NEVER)
        emissions = batch.pad(torch.cat([emissions, scores.gather(-1, added)], dim=-1))
        ids = torch.cat([best.indices, added], dim=-1)
        ids = torch.where((batch.positions == 0)[..., None], batch.ids[..., None], ids)
        # k × k × hidden numbers a place: in a rectangle most of them would be padding.
        transitions = batch.pad(self.scorer(functional.embedding(ids, words), semantic).float())[:, :-1]
        ids = batch.pad(ids)
        # A path starts at [CLS], which has one candidate: its transitions join the first emissions.
        emissions = emissions[:, 1:-1]
        start = functional.pad(transitions[:, :1, 0], (0, 0, 0, emissions.shape[1] - 1))
        real = batch.real[:, 2:]  # a position is a character if a real one follows it
        return Lattice(ids[:, 1:-1], emissions + start, transitions[:, 1:-1], real)
