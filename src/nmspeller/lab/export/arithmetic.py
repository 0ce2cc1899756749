"""How products with weight matrices are computed: the one thing in the graph that rounding changes."""

from abc import ABC, abstractmethod

import numpy as np

from nmspeller.lab.export.graph import MICROSOFT, Graph
from nmspeller.lab.export.quantisation import Floats, Inputs, Integers
from nmspeller.lab.export.weights import TABLE, Weights


class Arithmetic(ABC):
    """Dense layers, named by their weights, and the table that embeds characters and scores them again."""

    name: str

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    @abstractmethod
    def reach(self, name: str) -> Floats | None:
        """What the channels of a dense layer's input are divided by before it reads them, (width,)."""

    @abstractmethod
    def embed(self, graph: Graph, ids: str) -> str:
        """Rows of the table: (batch, length) -> (batch, length, width)."""

    @abstractmethod
    def score(self, graph: Graph, value: str) -> str:
        """Products with every row of the same table: (batch, length, width) -> (batch, length, rows)."""

    @abstractmethod
    def dense(self, graph: Graph, name: str, value: str) -> str:
        """A dense layer: (batch, length, width) -> (batch, length, outputs)."""

    @abstractmethod
    def attend(self, graph: Graph, name: str, value: str, lengths: str, heads: int) -> str:
        """The dense layer that makes queries, keys and values, and attention with them; the shape stays."""

    def _bias(self, graph: Graph, name: str) -> str:
        return graph.constant(f"{name}.bias", self._weights[f"{name}.bias"])


class Float(Arithmetic):
    """Single precision: the reference, and what calibration listens to; `inputs` names each layer's input."""

    name = "float"

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights)
        self.inputs: dict[str, str] = {}

    def reach(self, name: str) -> Floats | None:
        return None

    def embed(self, graph: Graph, ids: str) -> str:
        return graph.node("Gather", graph.constant(TABLE, self._weights[TABLE]), ids)

    def score(self, graph: Graph, value: str) -> str:
        self.inputs[TABLE] = value
        table = graph.constant(TABLE, self._weights[TABLE])
        product = graph.node("MatMul", value, graph.node("Transpose", table, perm=[1, 0]))
        return graph.node("Add", product, self._bias(graph, "head"))

    def dense(self, graph: Graph, name: str, value: str) -> str:
        self.inputs[name] = value
        columns = graph.constant(f"{name}.weight", self._weights[f"{name}.weight"].T)
        return graph.node("Add", graph.node("MatMul", value, columns), self._bias(graph, name))

    def attend(self, graph: Graph, name: str, value: str, lengths: str, heads: int) -> str:
        query, key, value = graph.nodes("Split", self.dense(graph, name, value), outputs=3, axis=-1)
        return graph.node(
            "MultiHeadAttention", query, key, value, "", lengths, domain=MICROSOFT, num_heads=heads
        )


class Integer(Arithmetic):
    """Bytes times bytes: u8 inputs, int8 weights, 32-bit sums, as `quantise` describes them."""

    name = "integer"

    def reach(self, name: str) -> Floats | None:
        return self._inputs(name).reach

    def embed(self, graph: Graph, ids: str) -> str:
        table = Integers.of(self._weights[TABLE])
        rows = graph.node("Gather", graph.constant(TABLE, table.weights), ids)
        scales = graph.node("Gather", graph.constant(f"{TABLE}.scales", table.scales), ids)
        scales = graph.node("Unsqueeze", scales, graph.integers(2))
        return graph.node("Mul", graph.node("Cast", rows, to=graph.FLOAT), scales)

    def score(self, graph: Graph, value: str) -> str:
        table, step = Integers.of(self._weights[TABLE]), self._inputs("head").steps[0]
        # Stored as rows, because that is how `embed` reads it; the runtime turns it once, when it loads.
        columns = graph.node("Transpose", graph.constant(TABLE, table.weights), perm=[1, 0])
        scales = graph.constant(f"{TABLE}.scales", table.scales)
        value, zero = self._bytes(graph, "head", value)
        return _product(
            graph, value, columns, graph.scalar(float(step)), scales, zero, self._bias(graph, "head")
        )

    def dense(self, graph: Graph, name: str, value: str) -> str:
        columns, scales = self._columns(graph, name)
        value, zero = self._bytes(graph, name, value)
        return _product(graph, value, columns, graph.scalar(1.0), scales, zero, self._bias(graph, name))

    def attend(self, graph: Graph, name: str, value: str, lengths: str, heads: int) -> str:
        columns, scales = self._columns(graph, name)
        value, zero = self._bytes(graph, name, value)
        one, even = graph.scalar(1.0), graph.constant("even", np.array(0, np.int8))
        return graph.node(
            "QAttention", value, columns, self._bias(graph, name), one, scales, lengths, zero, even,
            domain=MICROSOFT, num_heads=heads,
        )  # fmt: skip

    def _inputs(self, name: str) -> Inputs:
        return Inputs(self._weights[f"{name}.steps"], int(self._weights[f"{name}.zero"]))

    def _columns(self, graph: Graph, name: str) -> tuple[str, str]:
        """The weights, (width, outputs) int8, and the size of one for each output."""
        layer = Integers.of(self._weights[f"{name}.weight"], self._inputs(name))
        return graph.constant(f"{name}.weight", layer.weights.T), graph.constant(
            f"{name}.scales", layer.scales
        )

    def _bytes(self, graph: Graph, name: str, value: str) -> tuple[str, str]:
        """A layer's input, divided by its reach already, as u8, and the byte that stands for nothing."""
        inputs = self._inputs(name)
        zero = graph.byte(inputs.zero)
        return graph.node("QuantizeLinear", value, graph.scalar(float(inputs.steps.min())), zero), zero


def _product(graph: Graph, value: str, columns: str, step: str, scales: str, zero: str, bias: str) -> str:
    return graph.node("MatMulIntegerToFloat", value, columns, step, scales, zero, "", bias, domain=MICROSOFT)
