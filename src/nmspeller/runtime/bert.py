"""The BERT speller as an ONNX graph: ids in, the best few characters of every position out."""

import numpy as np
import onnx

from nmspeller.runtime.arithmetic import Arithmetic
from nmspeller.runtime.engine import FORMAT
from nmspeller.runtime.graph import MICROSOFT, Graph
from nmspeller.runtime.weights import Source

BEST = 5


def build(source: Source, arithmetic: Arithmetic) -> onnx.ModelProto:
    """The whole model.

    Inputs: `ids` (batch, length) int32 with [CLS] first and [SEP] behind each text, padded; `lengths`
    (batch,) int32, the special tokens counted. Outputs, for all positions but the first and the last column:
    `best` (batch, length - 2, 5) int32, their `probabilities`, and `kept` (batch, length - 2), the
    probability of the character that stands there. `embedded` (batch, length, hidden) is what the first
    layer reads, for those who want to show what a masking layer would attend to.
    """
    graph = Graph()
    ids = graph.input("ids", np.int32, ["batch", "length"])
    lengths = graph.input("lengths", np.int32, ["batch"])
    build_part = _Builder(graph, source, arithmetic)
    hidden = build_part.embeddings(ids)
    graph.output(hidden, "embedded", np.float32, ["batch", "length", source.encoder.hidden])
    for layer in range(source.encoder.layers):
        hidden = build_part.layer(f"semantic.layers.{layer}", hidden, lengths)
    build_part.head(hidden, ids)
    return graph.model(
        {
            "format": FORMAT,
            "arithmetic": arithmetic.name,
            "vocabulary": str(source.encoder.vocabulary),
            "positions": str(source.encoder.positions),
        }
    )


class _Builder:
    def __init__(self, graph: Graph, source: Source, arithmetic: Arithmetic) -> None:
        self._graph, self._arithmetic = graph, arithmetic
        self._encoder, self._weights = source.encoder, source.weights

    def embeddings(self, ids: str) -> str:
        """(batch, length) -> (batch, length, hidden)"""
        graph = self._graph
        words = self._arithmetic.embed(graph, ids)
        table = self._constant("semantic.embeddings.positions.weight")
        length = graph.node("Slice", graph.node("Shape", ids), graph.integers(1), graph.integers(2))
        positions = graph.node("Slice", table, graph.integers(0), length, graph.integers(0))
        return self._normalise("semantic.embeddings.norm", graph.node("Add", words, positions))

    def layer(self, name: str, hidden: str, lengths: str) -> str:
        """(batch, length, hidden) -> (batch, length, hidden)"""
        graph, arithmetic = self._graph, self._arithmetic
        joined = arithmetic.dense(graph, f"{name}.qkv", hidden)
        query, key, value = graph.nodes("Split", joined, outputs=3, axis=-1)
        heads = self._encoder.heads
        attended = graph.node(
            "MultiHeadAttention", query, key, value, "", lengths, domain=MICROSOFT, num_heads=heads
        )
        attended = arithmetic.dense(graph, f"{name}.out", attended)
        hidden = self._normalise(f"{name}.attention_norm", graph.node("Add", attended, hidden))
        wide = graph.node("Gelu", arithmetic.dense(graph, f"{name}.up", hidden), domain=MICROSOFT)
        narrow = arithmetic.dense(graph, f"{name}.down", wide)
        return self._normalise(f"{name}.output_norm", graph.node("Add", narrow, hidden))

    def head(self, hidden: str, ids: str) -> None:
        """(batch, length, hidden) -> the graph's outputs"""
        graph = self._graph
        inner = graph.integers(1), graph.integers(-1), graph.integers(1)
        hidden = graph.node("Slice", hidden, *inner)
        if "head.dense.weight" in self._weights:
            hidden = self._arithmetic.dense(graph, "head.dense", hidden)
            hidden = self._normalise("head.norm", graph.node("Gelu", hidden, domain=MICROSOFT))
        everything = graph.node("Softmax", self._arithmetic.score(graph, hidden), axis=-1)
        probabilities, best = graph.nodes("TopK", everything, graph.integers(BEST), outputs=2, axis=-1)
        standing = graph.node("Unsqueeze", graph.node("Slice", ids, *inner), graph.integers(2))
        kept = graph.node("GatherElements", everything, standing, axis=2)
        kept = graph.node("Squeeze", kept, graph.integers(2))
        shape: list[int | str] = ["batch", "characters"]
        graph.output(graph.node("Cast", best, to=graph.INT32), "best", np.int32, [*shape, BEST])
        graph.output(probabilities, "probabilities", np.float32, [*shape, BEST])
        graph.output(kept, "kept", np.float32, shape)

    def _constant(self, name: str) -> str:
        return self._graph.constant(name, self._weights[name])

    def _normalise(self, name: str, value: str) -> str:
        gain, bias = self._constant(f"{name}.weight"), self._constant(f"{name}.bias")
        epsilon = self._encoder.norm_epsilon
        return self._graph.node("LayerNormalization", value, gain, bias, axis=-1, epsilon=epsilon)
