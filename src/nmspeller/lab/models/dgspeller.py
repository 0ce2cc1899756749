"""DGSpeller and DNSpeller, the paper's own: dot-product gating of meaning, sound and shape."""

from nmspeller.lab.models.fusion import DotProductGate, MultiModalConfig, MultiModalSpeller
from nmspeller.lab.models.tables import CharacterTables


class DGSpeller(MultiModalSpeller):
    """Without masking this is DGSpeller; with `masking`, DNSpeller."""

    def __init__(self, config: MultiModalConfig, tables: CharacterTables) -> None:
        super().__init__(config, tables, DotProductGate())
