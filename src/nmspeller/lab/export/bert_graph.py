"""The BERT speller as an ONNX graph: ids in, the best few characters of every position out."""

import numpy as np
import onnx

from nmspeller.lab.export.arithmetic import Arithmetic
from nmspeller.lab.export.graph import MICROSOFT, Graph
from nmspeller.lab.export.weights import Source
from nmspeller.lab.models.config import BEST
from nmspeller.runtime.engine import FORMAT


def build(source: Source, arithmetic: Arithmetic, *, best: bool = True) -> onnx.ModelProto:
    """The whole model.

    Inputs: `ids` (batch, length) int32 with [CLS] first and [SEP] behind each text, padded; `lengths`
    (batch,) int32, the special tokens counted. Outputs, for all positions but the first and the last column:
    `best` (batch, length - 2, 5) int32, their `probabilities`, and `kept` (batch, length - 2), the
    probability of the character that stands there. A prefilter proposes
    nothing: without `best` only `kept` leaves the graph.
    """
    graph = Graph()
    ids = graph.input("ids", np.int32, ["batch", "length"])
    lengths = graph.input("lengths", np.int32, ["batch"])
    build_part = _Builder(graph, source, arithmetic)
    layers = [f"semantic.layers.{layer}" for layer in range(source.encoder.layers)]
    readers = [*(f"{layer}.qkv" for layer in layers), None]
    scaled = build_part.embeddings(ids, readers[0])
    for layer, reader in zip(layers, readers[1:], strict=True):
        scaled = build_part.layer(layer, scaled, lengths, reader)
    everything = build_part.head(scaled)
    if best:
        build_part.best(everything)
    build_part.kept(everything, ids)
    return graph.model(
        {
            "format": FORMAT,
            "arithmetic": arithmetic.name,
            "vocabulary": str(source.encoder.vocabulary),
            "positions": str(source.encoder.positions),
        }
    )


class _Builder:
    """The parts of the graph.

    Between them values pass as the dense layer that reads them wants them: `scaled`, divided by its reach.
    """

    def __init__(self, graph: Graph, source: Source, arithmetic: Arithmetic) -> None:
        self._graph, self._arithmetic = graph, arithmetic
        self._encoder, self._weights = source.encoder, source.weights

    def embeddings(self, ids: str, reader: str | None) -> str:
        """(batch, length) -> (batch, length, hidden), scaled for the reader"""
        graph = self._graph
        words = self._arithmetic.embed(graph, ids)
        table = self._constant("semantic.embeddings.positions.weight")
        length = graph.node("Slice", graph.node("Shape", ids), graph.integers(1), graph.integers(2))
        positions = graph.node("Slice", table, graph.integers(0), length, graph.integers(0))
        return self._normalise("semantic.embeddings.norm", graph.node("Add", words, positions), reader)

    def layer(self, name: str, scaled: str, lengths: str, reader: str | None) -> str:
        """(batch, length, hidden), scaled for this layer -> the same, scaled for the reader"""
        graph, arithmetic = self._graph, self._arithmetic
        attended = arithmetic.attend(graph, f"{name}.qkv", scaled, lengths, self._encoder.heads)
        attended = self._dense(f"{name}.out", attended)
        attended = graph.node("Add", attended, self.whole(f"{name}.qkv", scaled))
        scaled = self._normalise(f"{name}.attention_norm", attended, f"{name}.up")
        wide = arithmetic.dense(graph, f"{name}.up", scaled)
        wide = graph.node("Gelu", wide, domain=MICROSOFT)
        narrow = graph.node("Add", self._dense(f"{name}.down", wide), self.whole(f"{name}.up", scaled))
        return self._normalise(f"{name}.output_norm", narrow, reader)

    def head(self, hidden: str) -> str:
        """(batch, length, hidden) -> the probability of each character, (batch, length - 2, vocabulary)"""
        graph = self._graph
        hidden = self._inner(hidden)
        if "head.dense.weight" in self._weights:
            hidden = self._dense("head.dense", hidden)
            hidden = self._normalise("head.norm", graph.node("Gelu", hidden, domain=MICROSOFT), None)
        return graph.node("Softmax", self._arithmetic.score(graph, hidden), axis=-1)

    def best(self, everything: str) -> None:
        """Let the likeliest characters of each position leave the graph, and their probabilities."""
        graph = self._graph
        probabilities, best = graph.nodes("TopK", everything, graph.integers(BEST), outputs=2, axis=-1)
        shape: list[int | str] = ["batch", "characters", BEST]
        graph.output(graph.node("Cast", best, to=graph.INT32), "best", np.int32, shape)
        graph.output(probabilities, "probabilities", np.float32, shape)

    def kept(self, everything: str, ids: str) -> None:
        """Let the probability of the character that stands at each position leave the graph."""
        graph = self._graph
        standing = graph.node("Unsqueeze", self._inner(ids), graph.integers(2))
        kept = graph.node("GatherElements", everything, standing, axis=2)
        kept = graph.node("Squeeze", kept, graph.integers(2))
        graph.output(kept, "kept", np.float32, ["batch", "characters"])

    def whole(self, reader: str | None, scaled: str) -> str:
        """What was scaled for the reader, as it was before."""
        reach = self._arithmetic.reach(reader) if reader else None
        if reach is None:
            return scaled
        return self._graph.node("Mul", scaled, self._graph.constant(f"{reader}.reach", reach))

    def _inner(self, value: str) -> str:
        """All positions but the first and the last column."""
        graph = self._graph
        return graph.node("Slice", value, graph.integers(1), graph.integers(-1), graph.integers(1))

    def _dense(self, name: str, value: str) -> str:
        """A dense layer whose input no normalisation could scale."""
        reach = self._arithmetic.reach(name)
        if reach is not None:
            value = self._graph.node("Mul", value, self._graph.constant(f"{name}.share", 1 / reach))
        return self._arithmetic.dense(self._graph, name, value)

    def _constant(self, name: str) -> str:
        return self._graph.constant(name, self._weights[name])

    def _normalise(self, name: str, value: str, reader: str | None) -> str:
        """Normalised and scaled for the reader, in one: gain and bias take the division along."""
        reach = self._arithmetic.reach(reader) if reader else None
        parts = [self._weights[f"{name}.{part}"] for part in ("weight", "bias")]
        gain, bias = (
            self._graph.constant(f"{name}.{part}", each if reach is None else each / reach)
            for part, each in zip(("weight", "bias"), parts, strict=True)
        )
        epsilon = self._encoder.norm_epsilon
        return self._graph.node("LayerNormalization", value, gain, bias, axis=-1, epsilon=epsilon)
