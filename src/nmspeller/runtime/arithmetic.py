"""How products with weight matrices are computed: the one thing in the graph that quantisation changes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np

from nmspeller.runtime.graph import MICROSOFT, Graph
from nmspeller.runtime.quantise import FINE_STEPS, Floats, Inputs, Layer
from nmspeller.runtime.weights import TABLE, Weights


class Arithmetic(ABC):
    """Dense layers, named by their weights, and the table that embeds characters and scores them again."""

    name: str

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    @abstractmethod
    def embed(self, graph: Graph, ids: str) -> str:
        """Rows of the table: (batch, length) -> (batch, length, width)."""

    @abstractmethod
    def score(self, graph: Graph, value: str) -> str:
        """Products with every row of the same table: (batch, length, width) -> (batch, length, rows)."""

    @abstractmethod
    def dense(self, graph: Graph, name: str, value: str) -> str:
        """A dense layer: (batch, length, width) -> (batch, length, outputs)."""


class Float(Arithmetic):
    """Single precision: the reference, and what calibration listens to; `inputs` names each layer's input."""

    name = "float"

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights)
        self.inputs: dict[str, str] = {}

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

    def _bias(self, graph: Graph, name: str) -> str:
        return graph.constant(f"{name}.bias", self._weights[f"{name}.bias"])


class Integer(Arithmetic):
    """Bytes times bytes: u8 inputs, int8 weights, 32-bit sums, as `quantise` describes them."""

    name = "integer"

    def __init__(self, weights: Weights, layers: Mapping[str, Layer]) -> None:
        super().__init__(weights)
        self._layers = layers

    def embed(self, graph: Graph, ids: str) -> str:
        table = self._layers[TABLE]
        rows = graph.node("Gather", graph.constant(TABLE, table.weights), ids)
        scales = graph.node("Gather", graph.constant(f"{TABLE}.row_scales", table.scales[:, None]), ids)
        return graph.node("Mul", graph.node("Cast", rows, to=graph.FLOAT), scales)

    def score(self, graph: Graph, value: str) -> str:
        # Stored as rows, because that is how `embed` reads it; the runtime turns it once, when it loads.
        columns = graph.node("Transpose", graph.constant(TABLE, self._layers[TABLE].weights), perm=[1, 0])
        far = self._layers[TABLE].inputs.far
        if len(far):
            again = graph.node("Gather", columns, graph.constant(f"{TABLE}.far", far))
            columns = graph.node("Concat", columns, again, axis=0)
        return self._product(graph, TABLE, columns, value, self._weights["head.bias"])

    def dense(self, graph: Graph, name: str, value: str) -> str:
        layer = self._layers[name]
        columns = graph.constant(f"{name}.weight", layer.inputs.widen(layer.weights).T)
        return self._product(graph, name, columns, value, self._weights[f"{name}.bias"])

    def _product(self, graph: Graph, name: str, columns: str, value: str, bias: Floats) -> str:
        """The product with `columns` (width + far bytes, outputs), which the far bytes' idle part leaves."""
        layer, inputs = self._layers[name], self._layers[name].inputs
        step, zero = graph.scalar(float(inputs.step)), graph.byte(int(inputs.zero))
        scales = graph.constant(f"{name}.scales", layer.scales)
        idle = (layer.weights[:, inputs.far].astype(np.float32) @ inputs.idle) * layer.scales * inputs.step
        shift = graph.constant(f"{name}.bias", bias + layer.amends - idle)
        coarse = graph.node("QuantizeLinear", value, step, zero)
        everything = self._with_far_bytes(graph, name, inputs, value, coarse)
        product = _integer_product(graph, everything, columns, step, scales, zero, shift)
        if not inputs.fine:
            return product
        rest = graph.node("Sub", value, graph.node("DequantizeLinear", coarse, step, zero))
        finer, middle = graph.scalar(float(inputs.step) / FINE_STEPS), graph.byte(128)
        fine = graph.node("QuantizeLinear", rest, finer, middle)
        return graph.node("Add", product, _integer_product(graph, fine, columns, finer, scales, middle, ""))

    @staticmethod
    def _with_far_bytes(graph: Graph, name: str, inputs: Inputs, value: str, coarse: str) -> str:
        """(batch, length, width) -> (batch, length, width + far bytes), u8"""
        if not len(inputs.far):
            return coarse
        far = graph.node("Gather", value, graph.constant(f"{name}.far", inputs.far), axis=-1)
        far = graph.node("Sub", far, graph.constant(f"{name}.offsets", inputs.offsets))
        step, zero = graph.scalar(float(inputs.step)), graph.byte(int(inputs.zero))
        return graph.node("Concat", coarse, graph.node("QuantizeLinear", far, step, zero), axis=-1)


def _integer_product(
    graph: Graph, value: str, columns: str, step: str, scales: str, zero: str, bias: str
) -> str:
    return graph.node("MatMulIntegerToFloat", value, columns, step, scales, zero, "", bias, domain=MICROSOFT)
