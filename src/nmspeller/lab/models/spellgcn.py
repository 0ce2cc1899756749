"""SpellGCN (Cheng et al., 2020) and NM-SpellGCN: characters that sound or look alike share their output rows.

Two graphs, of similar sound and of similar shape, pass the word embeddings of their characters through two
graph layers. The result is the head's matrix for those characters; the others keep their word
embeddings. As in the original code: matrices start as the identity, the attention's temperature is 3 and
its vector is shared by the layers.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nmspeller.lab.models.characters import Cached, TableBuffers
from nmspeller.lab.models.config import SpellerConfig
from nmspeller.lab.models.encoder import dropout
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.models.tables import CharacterTables


@dataclass(frozen=True)
class SpellGCNConfig(SpellerConfig):
    graph_layers: int = 2
    graph_dropout: float = 0.1
    temperature: float = 3.0


class NormalisedAdjacency(nn.Module):
    """One graph's normalised adjacency D^-½ (A + I) D^-½, sparse."""

    indices: Tensor
    values: Tensor

    def __init__(self, edges: NDArray[np.integer], nodes: int) -> None:
        """edges: (2, n), pairs of node numbers, each pair once, in either order."""
        super().__init__()
        own = np.tile(np.arange(nodes), (2, 1))
        pairs = np.unique(np.concatenate([edges, edges[::-1], own], axis=1), axis=1)
        degree = np.bincount(pairs[0], minlength=nodes)
        self.nodes = nodes
        self.register_buffer("indices", torch.from_numpy(pairs.astype(np.int64)), persistent=False)
        values = 1 / np.sqrt(degree[pairs[0]] * degree[pairs[1]])
        self.register_buffer("values", torch.from_numpy(values.astype(np.float32)), persistent=False)

    def forward(self, states: Tensor) -> Tensor:
        """(nodes, hidden) → (nodes, hidden): each node's neighbours, weighted and added."""
        size = (self.nodes, self.nodes)
        adjacency = torch.sparse_coo_tensor(
            self.indices, self.values, size, is_coalesced=True, check_invariants=False
        )
        with torch.autocast(states.device.type, enabled=False):  # sparse products are fp32 only
            added: Tensor = torch.sparse.mm(adjacency, states.float())
        return added


class GraphLayers(Cached):
    """Word embeddings → the head's matrix."""

    nodes: Tensor

    def __init__(self, config: SpellGCNConfig, tables: CharacterTables) -> None:
        super().__init__()
        nodes = np.unique(np.concatenate([tables.sound.ravel(), tables.shape.ravel()]))
        self.register_buffer("nodes", torch.from_numpy(nodes.astype(np.int64)), persistent=False)
        self.graphs = nn.ModuleList(
            NormalisedAdjacency(np.searchsorted(nodes, edges), len(nodes))
            for edges in (tables.sound, tables.shape)
        )
        hidden = config.encoder.hidden
        self.maps = nn.ModuleList(
            nn.ModuleList(nn.Linear(hidden, hidden) for _ in self.graphs) for _ in range(config.graph_layers)
        )
        for module in self.maps.modules():
            if isinstance(module, nn.Linear):
                nn.init.eye_(module.weight)
                nn.init.zeros_(module.bias)
        self.attention = nn.Linear(hidden, 1, bias=False)
        self.temperature = config.temperature
        self.dropout = dropout(config.graph_dropout)

    # Sparse products cannot be compiled.
    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def forward(self, words: Tensor) -> Tensor:
        """(vocabulary, hidden) → (vocabulary, hidden)."""
        if self.may_cache:
            return self.cached(lambda: self._rows(words))
        return self._rows(words)

    def _rows(self, words: Tensor) -> Tensor:
        state = words[self.nodes]
        total = state
        for maps in self.maps:
            combined = self._combine(maps, state)
            state = combined + total  # H(l+1) = C(l) + H(0) + … + H(l)
            total = total + state
        return words.index_copy(0, self.nodes, state.to(words.dtype))

    def _combine(self, maps: nn.Module, state: Tensor) -> Tensor:
        """One layer of both graphs, attentively combined per node: (nodes, hidden) → (nodes, hidden)."""
        pairs = zip(self.graphs, maps.children(), strict=True)
        outputs = torch.stack([self.dropout(graph(linear(state))) for graph, linear in pairs])
        weights = torch.softmax(self.attention(outputs).float() / self.temperature, dim=0)
        return (weights * outputs).sum(dim=0)


class SpellGCN(SpellerModel):
    """With `masking`, this is NM-SpellGCN."""

    needs: ClassVar[tuple[str, ...]] = ("sound", "shape")

    def __init__(self, config: SpellGCNConfig, tables: CharacterTables) -> None:
        super().__init__(config)
        self.tables = TableBuffers(tables, self.needs)
        self.graphs = GraphLayers(config, tables)

    def output_words(self) -> Tensor:
        words: Tensor = self.graphs(super().output_words())
        return words
