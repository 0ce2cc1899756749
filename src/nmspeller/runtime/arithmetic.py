"""How products with weight matrices are computed: the one thing in the graph that quantisation changes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from nmspeller.runtime.graph import MICROSOFT, Graph
from nmspeller.runtime.quantise import FINE_STEPS, Inputs, Layer, quantise_rows
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
    def dense(self, graph: Graph, name: str, value: str, *, bias: bool = True) -> str:
        """A dense layer, with or without its bias."""

    def dense_gelu(self, graph: Graph, name: str, value: str) -> str:
        """A dense layer and the exact Gaussian error linear unit, which adds the bias itself."""
        product = self.dense(graph, name, value, bias=False)
        return graph.node("BiasGelu", product, self._bias(graph, name), domain=MICROSOFT)

    def _bias(self, graph: Graph, name: str) -> str:
        return graph.constant(f"{name}.bias", self._weights[f"{name}.bias"])


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

    def dense(self, graph: Graph, name: str, value: str, *, bias: bool = True) -> str:
        self.inputs[name] = value
        columns = graph.constant(f"{name}.weight", self._weights[f"{name}.weight"].T)
        product = graph.node("MatMul", value, columns)
        return graph.node("Add", product, self._bias(graph, name)) if bias else product


class Integer(Arithmetic):
    """Bytes times bytes: u8 inputs, int8 weights, 32-bit sums, as `quantise` describes them."""

    name = "integer"

    def __init__(self, weights: Weights, layers: Mapping[str, Layer], table_inputs: Inputs) -> None:
        super().__init__(weights)
        self._layers = layers
        rows, scales = quantise_rows(weights[TABLE])
        self._table = Layer(table_inputs, rows, scales)

    def embed(self, graph: Graph, ids: str) -> str:
        rows = graph.node("Gather", graph.constant(TABLE, self._table.weights), ids)
        scales = graph.node("Gather", graph.constant(f"{TABLE}.row_scales", self._table.scales[:, None]), ids)
        return graph.node("Mul", graph.node("Cast", rows, to=graph.FLOAT), scales)

    def score(self, graph: Graph, value: str) -> str:
        # Stored as rows, because that is how `embed` reads it; the runtime turns it once, when it loads.
        columns = graph.node("Transpose", graph.constant(TABLE, self._table.weights), perm=[1, 0])
        return self._product(graph, TABLE, self._table, columns, value, self._bias(graph, "head"))

    def dense(self, graph: Graph, name: str, value: str, *, bias: bool = True) -> str:
        layer = self._layers[name]
        columns = graph.constant(f"{name}.weight", layer.weights.T)
        return self._product(graph, name, layer, columns, value, self._bias(graph, name) if bias else "")

    def _product(self, graph: Graph, name: str, layer: Layer, columns: str, value: str, bias: str) -> str:
        inputs = layer.inputs
        scales = graph.constant(f"{name}.scales", layer.scales * inputs.step)
        one, zero = graph.scalar(1.0), graph.byte(int(inputs.zero))
        exact = graph.node("Mul", value, graph.constant(f"{name}.factor", 1 / inputs.divisor))
        coarse = graph.node("QuantizeLinear", exact, one, zero)
        product = _integer_product(graph, coarse, columns, one, scales, zero, bias)
        if not inputs.fine:
            return product
        rest = graph.node("Sub", exact, graph.node("DequantizeLinear", coarse, one, zero))
        step, middle = graph.scalar(1 / FINE_STEPS), graph.byte(128)
        fine = graph.node("QuantizeLinear", rest, step, middle)
        return graph.node("Add", product, _integer_product(graph, fine, columns, step, scales, middle, ""))


def _integer_product(
    graph: Graph, value: str, columns: str, step: str, scales: str, zero: str, bias: str
) -> str:
    return graph.node("MatMulIntegerToFloat", value, columns, step, scales, zero, "", bias, domain=MICROSOFT)
