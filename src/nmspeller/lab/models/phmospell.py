"""PHMOSpell (Huang et al., 2021) and NM-PHMOSpell: adaptive gating of meaning, sound and shape.

The original takes sounds and shapes from tables made by Tacotron2 and VGG19 and predicts directly from the
fused vector. The n-gram masking paper, which we follow, uses ReaLiSe's encoders and its three layers instead,
so that only the gates differ.
"""

from dataclasses import dataclass

from nmspeller.lab.models.fusion import AdaptiveGate, MultiModalConfig, MultiModalSpeller
from nmspeller.lab.models.tables import CharacterTables


@dataclass(frozen=True)
class PHMOSpellConfig(MultiModalConfig):
    """The paper trains with weights 0.6, 0.4 (SIGHAN13 and 14) and 0.8, 0.2 (SIGHAN15)."""

    phonetic_weight: float = 0.6
    graphic_weight: float = 0.4


class PHMOSpell(MultiModalSpeller):
    """With `masking`, this is NM-PHMOSpell."""

    def __init__(self, config: PHMOSpellConfig, tables: CharacterTables) -> None:
        gate = AdaptiveGate(config.encoder.hidden, config.phonetic_weight, config.graphic_weight)
        super().__init__(config, tables, gate)
