"""DGSpeller and DNSpeller, the paper's own: dot-product gating of meaning, sound and shape."""

from dataclasses import dataclass

from nmspeller.lab.models.fusion import DotProductGate, MultiModalConfig, MultiModalSpeller
from nmspeller.lab.models.tables import CharacterTables


@dataclass(frozen=True)
class DGSpellerConfig(MultiModalConfig):
    """The paper's sizes."""


class DGSpeller(MultiModalSpeller):
    """Without masking this is DGSpeller, with it DNSpeller."""

    def __init__(self, config: DGSpellerConfig, tables: CharacterTables) -> None:
        gate = DotProductGate()
        assert not list(gate.parameters()), "dot-product gating has no parameters"
        super().__init__(config, tables, gate)
