"""The network of tags as part of an ONNX graph; see `models.tag_network`.

It computes in single precision; its matrices are stored in half precision.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nmspeller.lab.export.graph import MICROSOFT, Graph
from nmspeller.lab.export.weights import TAGS, SpellerWeights
from nmspeller.lab.models.tag_sizes import BLOCKS, KINDS, LEAST_PROBABILITY, NEIGHBOURS

_END = 2**31 - 1


@dataclass(frozen=True)
class TagInputs:
    """Values of the graph that the network reads.

    ids: (batch, length); lengths: (batch,); states: (batch, length, hidden) each. Of all positions but the
    first and the last column, probabilities: (batch, length - 2, vocabulary), and the best of them, in order:
    (batch, length - 2, 5).
    """

    ids: str
    lengths: str
    states: Sequence[str]
    probabilities: str
    best: str


class TagGraph:
    """Adds the network to a graph."""

    def __init__(self, graph: Graph, speller: SpellerWeights) -> None:
        self._graph, self._weights = graph, speller.weights
        self._epsilon = speller.encoder.norm_epsilon

    def output(self, read: TagInputs) -> None:
        """Output the probabilities of the tags at all positions but the first: (batch, length - 1, 3)"""
        graph = self._graph
        columns = graph.node("Range", graph.integer(0), self._length(read.ids), graph.integer(1))
        lengths = graph.node("Cast", graph.node("Unsqueeze", read.lengths, graph.integers(1)), to=graph.INT64)
        real = self._as_float(graph.node("Less", columns, lengths))
        inner = graph.node("Less", columns, graph.node("Sub", lengths, graph.integers(1)))
        likely = graph.node(
            "Mul", self._log_likelihoods(read), self._as_float(self._cut(inner, 1, -1, axis=1))
        )
        # [CLS] and the last column have none.
        likely = graph.node("Pad", likely, graph.integers(0, 1, 0, 0, 1, 0))
        states = graph.node("Concat", *read.states, axis=-1)
        values = graph.node("Add", self._dense("states", states), self._dense("likelihoods", likely))
        values = self._normalise("norm", values)
        for block in range(BLOCKS):
            values = self._block(f"blocks.{block}", values, real)
        scores = self._dense("output", self._normalise("output_norm", self._cut(values, 1, _END, axis=1)))
        graph.output(graph.node("Sigmoid", scores), TAGS, np.float32, ["batch", "characters_and_end", KINDS])

    def _log_likelihoods(self, read: TagInputs) -> str:
        """Of each character, the next, the previous and the best: (batch, length - 2, 4)"""
        graph = self._graph
        found = []
        for first, last in ((1, -1), (2, _END), (0, -2)):
            characters = graph.node("Unsqueeze", self._cut(read.ids, first, last, axis=1), graph.integers(2))
            found.append(graph.node("GatherElements", read.probabilities, characters, axis=2))
        found.append(self._cut(read.best, 0, 1, axis=2))
        together = graph.node("Concat", *found, axis=-1)
        return graph.node("Log", graph.node("Max", together, graph.scalar(LEAST_PROBABILITY)))

    def _block(self, name: str, values: str, real: str) -> str:
        """values: (batch, length, width), real: (batch, length, 1) -> the shape of values"""
        graph = self._graph
        masked = graph.node("Mul", self._normalise(f"{name}.norm", values), real)
        padded = graph.node("Pad", masked, graph.integers(0, NEIGHBOURS, 0, 0, NEIGHBOURS, 0))
        size = 2 * NEIGHBOURS
        shifted = (
            self._cut(padded, first, first - size if first < size else _END, axis=1)
            for first in range(size + 1)
        )
        neighbours = self._dense(f"{name}.neighbours", graph.node("Concat", *shifted, axis=-1))
        return graph.node(
            "Add", values, self._dense(f"{name}.out", graph.node("Gelu", neighbours, domain=MICROSOFT))
        )

    def _length(self, ids: str) -> str:
        graph = self._graph
        return graph.node("Gather", graph.node("Shape", ids), graph.integer(1))

    def _as_float(self, mask: str) -> str:
        """(batch, length) -> (batch, length, 1)"""
        graph = self._graph
        return graph.node("Unsqueeze", graph.node("Cast", mask, to=graph.FLOAT), graph.integers(2))

    def _cut(self, value: str, first: int, last: int, *, axis: int) -> str:
        graph = self._graph
        return graph.node("Slice", value, graph.integers(first), graph.integers(last), graph.integers(axis))

    def _dense(self, name: str, value: str) -> str:
        graph, weights = self._graph, self._weights[f"{TAGS}.{name}.weight"]
        half = graph.constant(f"{TAGS}.{name}.weight", weights.T.astype(np.float16))
        product = graph.node("MatMul", value, graph.node("Cast", half, to=graph.FLOAT))
        return graph.node("Add", product, self._constant(f"{name}.bias"))

    def _normalise(self, name: str, value: str) -> str:
        gain, bias = (self._constant(f"{name}.{part}") for part in ("weight", "bias"))
        return self._graph.node("LayerNormalization", value, gain, bias, axis=-1, epsilon=self._epsilon)

    def _constant(self, name: str) -> str:
        return self._graph.constant(f"{TAGS}.{name}", self._weights[f"{TAGS}.{name}"])
