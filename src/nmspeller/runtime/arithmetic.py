"""How a product with a weight matrix is computed: the one thing that quantisation changes."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.graph import MICROSOFT, Graph
from nmspeller.runtime.weights import Weights


class Arithmetic(ABC):
    """Products with the weights of one model."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    @abstractmethod
    def gather(self, graph: Graph, table: str, ids: str) -> str:
        """Rows of a table: (batch, length) -> (batch, length, width)."""

    @abstractmethod
    def _product(self, graph: Graph, name: str, rows: NDArray[np.float32], value: str) -> str:
        """`value` (…, width) times the transpose of `rows` (outputs, width), stored under `name`."""

    def scores(self, graph: Graph, table: str, bias: str, value: str) -> str:
        """The product with the same table that `gather` reads."""
        product = self._product(graph, table, self._weights[table], value)
        return graph.node("Add", product, graph.constant(bias, self._weights[bias]))

    def linear(self, graph: Graph, name: str, value: str) -> str:
        """A dense layer."""
        product = self._product(graph, f"{name}.weight", self._weights[f"{name}.weight"], value)
        return graph.node("Add", product, graph.constant(f"{name}.bias", self._weights[f"{name}.bias"]))

    def linears(self, graph: Graph, names: list[str], value: str) -> tuple[str, ...]:
        """Several dense layers of one value."""
        return tuple(self.linear(graph, name, value) for name in names)

    def linear_gelu(self, graph: Graph, name: str, value: str) -> str:
        """A dense layer and the exact Gaussian error linear unit."""
        product = self._product(graph, f"{name}.weight", self._weights[f"{name}.weight"], value)
        bias = graph.constant(f"{name}.bias", self._weights[f"{name}.bias"])
        return graph.node("BiasGelu", product, bias, domain=MICROSOFT)


class Float(Arithmetic):
    """Single precision: the reference."""

    def gather(self, graph: Graph, table: str, ids: str) -> str:
        return graph.node("Gather", graph.constant(table, self._weights[table]), ids)

    def _product(self, graph: Graph, name: str, rows: NDArray[np.float32], value: str) -> str:
        stored = graph.constant(name, rows)
        return graph.node("MatMul", value, graph.node("Transpose", stored, perm=[1, 0]))
