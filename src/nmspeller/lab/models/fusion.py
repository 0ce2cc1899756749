"""Three gates that fuse meaning, sound and shape, and the speller that they share.

Each gate takes H_s, H_p, H_g and mean(H_s), all (..., hidden), to one fused (..., hidden).
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Literal, cast

import torch
from torch import Tensor, nn

from nmspeller.lab.configs.parsing import check_range
from nmspeller.lab.models.batch import Batch, PackedBatch
from nmspeller.lab.models.characters import TableBuffers
from nmspeller.lab.models.config import SpellerConfig
from nmspeller.lab.models.encoder import Layer, initialise, run, stack
from nmspeller.lab.models.graphic import GraphicEncoder
from nmspeller.lab.models.identity_start import start_as_identity
from nmspeller.lab.models.phonetic import PhoneticEncoder
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.models.tables import CharacterTables


class SelectiveGate(nn.Module):
    """ReaLiSe: one linear map of [H_s; H_p; H_g; mean H_s] to three sigmoid gates, one per modality."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.gates = nn.Linear(4 * hidden, 3)
        self.apply(initialise)

    def forward(self, semantic: Tensor, phonetic: Tensor, graphic: Tensor, mean: Tensor) -> Tensor:
        gates = torch.sigmoid(self.gates(torch.cat([semantic, phonetic, graphic, mean], dim=-1)))
        return gates[..., 0:1] * semantic + gates[..., 1:2] * phonetic + gates[..., 2:3] * graphic


class AdaptiveGate(nn.Module):
    """PHMOSpell: each modality times a ReLU gate of itself and H_s; the weighted sum is added to H_s."""

    def __init__(self, hidden: int, phonetic_weight: float, graphic_weight: float) -> None:
        super().__init__()
        self.phonetic_weight = phonetic_weight
        self.graphic_weight = graphic_weight
        self.phonetic_gate = nn.Linear(2 * hidden, hidden)
        self.graphic_gate = nn.Linear(2 * hidden, hidden)
        self.apply(initialise)

    def forward(self, semantic: Tensor, phonetic: Tensor, graphic: Tensor, mean: Tensor) -> Tensor:
        sound = torch.relu(self.phonetic_gate(torch.cat([semantic, phonetic], dim=-1))) * phonetic
        shape = torch.relu(self.graphic_gate(torch.cat([semantic, graphic], dim=-1))) * graphic
        return semantic + self.phonetic_weight * sound + self.graphic_weight * shape


class DotProductGate(nn.Module):
    """The paper's: sigmoid([H_s; mean H_s] · [H; H]) per position gates each modality; no parameters."""

    def forward(self, semantic: Tensor, phonetic: Tensor, graphic: Tensor, mean: Tensor) -> Tensor:
        context = semantic + mean  # [a; b] · [c; c] = (a + b) · c
        phonetic_gate = torch.sigmoid((context * phonetic).sum(dim=-1, keepdim=True))
        graphic_gate = torch.sigmoid((context * graphic).sum(dim=-1, keepdim=True))
        return semantic + phonetic_gate * phonetic + graphic_gate * graphic


def sentence_mean(hidden: Tensor, batch: Batch | PackedBatch) -> Tensor:
    """The mean over each row's real positions, repeated at each of them: (..., hidden)."""
    padded = batch.pad(hidden)
    real = batch.real.unsqueeze(-1)
    mean = (padded * real).sum(dim=1, keepdim=True) / real.sum(dim=1, keepdim=True)
    return batch.pack(mean.to(hidden.dtype).expand_as(padded))


@dataclass(frozen=True)
class MultiModalConfig(SpellerConfig):
    """What ReaLiSe, PHMOSpell and DGSpeller share in the paper, so that only their gates differ.

    With the defaults a speller starts, nearly, as the BERT that it extends.

    fusion_init: 'identity' lets the layers after the gate start as the identity; 'random' does not.
    modality_scale: what the outputs of the phonetic and graphic encoders are multiplied by when the training
    starts. At full size they saturate the dot-product gate and drown the semantic encoding.
    """

    phonetic_layers: int = 4
    fusion_layers: int = 3
    graphic_channels: tuple[int, ...] = (64, 128, 256, 512)
    fusion_init: Literal["identity", "random"] = "identity"
    modality_scale: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self, "phonetic_layers", "fusion_layers", least=1)
        check_range(self, "modality_scale", least=0)


class MultiModalSpeller(SpellerModel):
    """Semantic, phonetic and graphic encodings → a gate → three transformer layers → the vocabulary.

    ReaLiSe's code has a constant embedding and a norm before the three layers; the n-gram masking paper has
    not.
    """

    needs: ClassVar[tuple[str, ...]] = ("letters", "bitmaps")

    def __init__(self, config: MultiModalConfig, tables: CharacterTables, gate: nn.Module) -> None:
        super().__init__(config)
        encoder = config.encoder
        self.tables = TableBuffers(tables, self.needs)
        self.phonetic = PhoneticEncoder(encoder, config.phonetic_layers)
        self.graphic = GraphicEncoder(encoder.hidden, config.graphic_channels, encoder.norm_epsilon)
        self.gate = gate
        self.fusion = stack(encoder, config.fusion_layers).apply(initialise)
        self.fusion_init, self.modality_scale = config.fusion_init, config.modality_scale
        self.start_fusion()

    def start_new_layers(self, loaded: Collection[str]) -> None:
        super().start_new_layers(loaded)
        if not any(name.startswith("fusion.") for name in loaded):
            self.start_fusion()

    def start_fusion(self) -> None:
        """Initialise the fusion layers, which may depend on the encoder's weights."""
        if self.fusion_init == "identity":
            for layer in self.fusion:
                start_as_identity(cast(Layer, layer), cast(Layer, self.semantic.layers[-1]).output_norm)

    @torch.no_grad()
    def scale_modalities(self) -> None:
        """Multiply the outputs of the phonetic and graphic encoders by `modality_scale`, in their norms."""
        for norm in (cast(Layer, self.phonetic.layers[-1]).output_norm, self.graphic.norm):
            norm.weight.mul_(self.modality_scale)
            norm.bias.mul_(self.modality_scale)

    def hidden(self, batch: Batch | PackedBatch) -> Tensor:
        semantic = self.semantic(batch)
        phonetic = self.phonetic(batch, self.tables.letters)
        graphic = self.graphic(batch.ids, self.tables.bitmaps)
        fused = self.gate(semantic, phonetic, graphic, sentence_mean(semantic, batch))
        return run(self.fusion, fused, batch)
