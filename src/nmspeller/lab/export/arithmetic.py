"""How products with weight matrices are computed: the only thing in the graph that quantisation changes."""

from abc import ABC, abstractmethod

import numpy as np

from nmspeller.lab.export.graph import MICROSOFT, Graph
from nmspeller.lab.export.quantisation import Floats, InputQuantisation, Int8Weights
from nmspeller.lab.export.weights import OUTPUT, TABLE, Weights


class Arithmetic(ABC):
    """Dense layers, named by their weights, and the table that embeds characters and, tied, scores them."""

    name: str

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    @abstractmethod
    def channel_scale(self, name: str) -> Floats | None:
        """What a dense layer's input channels must be divided by before the layer, (width,)."""

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
    """Single precision: the reference, and the source of calibration; `inputs` names each layer's input."""

    name = "float"

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights)
        self.inputs: dict[str, str] = {}

    def channel_scale(self, name: str) -> Floats | None:
        return None

    def embed(self, graph: Graph, ids: str) -> str:
        return graph.node("Gather", graph.constant(TABLE, self._weights[TABLE]), ids)

    def score(self, graph: Graph, value: str) -> str:
        self.inputs[TABLE] = value
        table = graph.constant(TABLE, self._weights[TABLE])
        product = graph.node("MatMul", value, graph.node("Transpose", table, perm=[1, 0]))
        return graph.node("Add", product, self._bias(graph, OUTPUT))

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
    """u8 inputs times int8 weights with 32-bit sums, as `quantisation` describes them."""

    name = "integer"

    def channel_scale(self, name: str) -> Floats | None:
        return self._inputs(name).channel_scale

    def embed(self, graph: Graph, ids: str) -> str:
        table = Int8Weights.of(self._weights[TABLE])
        rows = graph.node("Gather", graph.constant(TABLE, table.weights), ids)
        scales = graph.node("Gather", graph.constant(f"{TABLE}.weight_scale", table.scales), ids)
        scales = graph.node("Unsqueeze", scales, graph.integers(2))
        return graph.node("Mul", graph.node("Cast", rows, to=graph.FLOAT), scales)

    def score(self, graph: Graph, value: str) -> str:
        table, scale = Int8Weights.of(self._weights[TABLE]), self._inputs(OUTPUT).scale[0]
        # Stored as rows, as `embed` reads it; the runtime transposes it once, when it loads.
        columns = graph.node("Transpose", graph.constant(TABLE, table.weights), perm=[1, 0])
        scales = graph.constant(f"{TABLE}.weight_scale", table.scales)
        value, zero_point = self._bytes(graph, OUTPUT, value)
        bias = self._bias(graph, OUTPUT)
        return _product(graph, value, columns, graph.scalar(float(scale)), scales, zero_point, bias)

    def dense(self, graph: Graph, name: str, value: str) -> str:
        columns, scales = self._columns(graph, name)
        value, zero_point = self._bytes(graph, name, value)
        bias = self._bias(graph, name)
        return _product(graph, value, columns, graph.scalar(1.0), scales, zero_point, bias)

    def attend(self, graph: Graph, name: str, value: str, lengths: str, heads: int) -> str:
        columns, scales = self._columns(graph, name)
        value, zero_point = self._bytes(graph, name, value)
        one, symmetric = graph.scalar(1.0), graph.constant("weight_zero_point", np.array(0, np.int8))
        return graph.node(
            "QAttention", value, columns, self._bias(graph, name), one, scales, lengths,
            zero_point, symmetric, domain=MICROSOFT, num_heads=heads,
        )  # fmt: skip

    def _inputs(self, name: str) -> InputQuantisation:
        return InputQuantisation(self._weights[f"{name}.scale"], int(self._weights[f"{name}.zero_point"]))

    def _columns(self, graph: Graph, name: str) -> tuple[str, str]:
        """The weights, (width, outputs) int8, and their scales, (outputs,)."""
        layer = Int8Weights.of(self._weights[f"{name}.weight"], self._inputs(name))
        columns = graph.constant(f"{name}.weight", layer.weights.T)
        return columns, graph.constant(f"{name}.weight_scale", layer.scales)

    def _bytes(self, graph: Graph, name: str, value: str) -> tuple[str, str]:
        """A layer's input, already divided by its channel scale, as u8, and its zero point."""
        inputs = self._inputs(name)
        zero_point = graph.byte(inputs.zero_point)
        scale = graph.scalar(float(inputs.scale.min()))
        return graph.node("QuantizeLinear", value, scale, zero_point), zero_point


def _product(
    graph: Graph, value: str, columns: str, scale: str, scales: str, zero_point: str, bias: str
) -> str:
    return graph.node(
        "MatMulIntegerToFloat", value, columns, scale, scales, zero_point, "", bias, domain=MICROSOFT
    )
