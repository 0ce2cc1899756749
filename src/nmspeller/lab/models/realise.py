"""ReaLiSe (Xu et al., 2021) and NM-ReaLiSe: selective gating of meaning, sound and shape."""

from nmspeller.lab.models.fusion import MultiModalConfig, MultiModalSpeller, SelectiveGate
from nmspeller.lab.models.tables import CharacterTables


class ReaLiSe(MultiModalSpeller):
    """With `masking`, this is NM-ReaLiSe."""

    def __init__(self, config: MultiModalConfig, tables: CharacterTables) -> None:
        super().__init__(config, tables, SelectiveGate(config.encoder.hidden))
