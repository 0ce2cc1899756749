"""The sound of sentences: ReaLiSe's phonetic encoder.

The tone and letters of each character's pinyin go through a GRU, whose final state is the character's
sound; four transformer layers then encode the sequence of sounds. The tone comes first, as in ReaLiSe's
code.
"""

import torch
from torch import Tensor, nn

from nmspeller.lab.models.batch import Batch, PackedBatch
from nmspeller.lab.models.characters import PerCharacter
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.lab.models.encoder import dropout, initialise, run, stack
from nmspeller.lab.models.tables import SYMBOLS


class Sound(PerCharacter):
    """Letters → one vector per character."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.symbols = nn.Embedding(SYMBOLS, hidden, padding_idx=0)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)

    def encode(self, features: Tensor) -> Tensor:
        """features: (n, 8), symbols, then zeros → (n, hidden), the GRU's state after the last symbol."""
        last = (features > 0).sum(dim=1).clamp(min=1) - 1
        with torch.autocast(features.device.type, enabled=False):  # not every cuDNN has a bf16 GRU
            states, _ = self.gru(self.symbols(features.long()))
        encoded: Tensor = states[torch.arange(len(states), device=states.device), last]
        return encoded


class PhoneticEncoder(nn.Module):
    """H_p: sounds, with positions, through the layers."""

    def __init__(self, config: EncoderConfig, layers: int) -> None:
        super().__init__()
        self.positions = nn.Embedding(config.positions, config.hidden)
        self.norm = nn.LayerNorm(config.hidden, eps=config.norm_epsilon)
        self.dropout = dropout(config.dropout)
        self.layers = stack(config, layers)
        self.apply(initialise)
        self.sound = Sound(config.hidden)

    def forward(self, batch: Batch | PackedBatch, letters: Tensor) -> Tensor:
        """letters: (vocabulary, 8) → (..., hidden), with the batch's layout."""
        sounds = self.sound(batch.ids, letters) + self.positions(batch.positions)
        return run(self.layers, self.dropout(self.norm(sounds)), batch)
