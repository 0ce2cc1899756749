"""The BERT speller as an ONNX graph: ids in, candidates and probabilities of every position out."""

import numpy as np
import onnx

from nmspeller.lab.export.arithmetic import Arithmetic
from nmspeller.lab.export.graph import MICROSOFT, Graph
from nmspeller.lab.export.tag_graph import TagGraph, TagInputs
from nmspeller.lab.export.weights import OUTPUT, SpellerWeights
from nmspeller.lab.models.config import BEST
from nmspeller.lab.models.tag_sizes import states_read
from nmspeller.runtime.engine import FORMAT


def build(speller: SpellerWeights, arithmetic: Arithmetic, *, candidates: bool = True) -> onnx.ModelProto:
    """The whole model.

    Inputs: `ids` (batch, length) int32 with [CLS] before and [SEP] after each text, padded; `lengths`
    (batch,) int32, which count the special tokens. Outputs, for all positions but the first and the last
    column: `candidates` (batch, length - 2, 5) int32, their `probabilities`, and `source_probability`
    (batch, length - 2), the probability of the source character. A model with tags also has `tags` (batch,
    length - 1, 3) float32, for all positions but the first: the probabilities that the character is extra,
    that something is missing before it, and that it is swapped with the next; of a row with n characters,
    tags[n] is of [SEP] and says whether something is missing at the end, and what lies behind it means
    nothing. A prefilter has no
    `candidates`: its only output is `source_probability`, the sigmoid of the source character's score; see
    `training.detection`.
    """
    graph = Graph()
    ids = graph.input("ids", np.int32, ["batch", "length"])
    lengths = graph.input("lengths", np.int32, ["batch"])
    parts = _Builder(graph, speller, arithmetic)
    layers = [f"semantic.layers.{layer}" for layer in range(speller.encoder.layers)]
    readers = [*(f"{layer}.attention.qkv" for layer in layers), None]
    words = arithmetic.embed(graph, ids)
    scaled = parts.embeddings(ids, words, readers[0])
    states: list[str] = []
    for layer, reader in zip(layers, readers[1:], strict=True):
        scaled = parts.layer(layer, scaled, lengths, reader)
        states.append(parts.unscaled(reader, scaled))
    if candidates:
        probabilities = parts.probabilities(scaled)
        best = parts.output_candidates(probabilities)
        parts.output_source_probability(parts.probability_of(probabilities, ids))
        if speller.has_tags:
            read = [states[number - 1] for number in states_read(len(layers))]
            TagGraph(graph, speller).output(TagInputs(ids, lengths, read, probabilities, best))
    else:
        parts.output_source_probability(parts.own_probability(scaled, ids, words))
    return graph.model(
        {
            "format": FORMAT,
            "arithmetic": arithmetic.name,
            "vocabulary": str(speller.encoder.vocabulary),
            "positions": str(speller.encoder.positions),
        }
    )


class _Builder:
    """The parts of the graph.

    Values pass between them `scaled`: divided by the channel scale of the dense layer that reads them.
    """

    def __init__(self, graph: Graph, speller: SpellerWeights, arithmetic: Arithmetic) -> None:
        self._graph, self._arithmetic = graph, arithmetic
        self._encoder, self._weights = speller.encoder, speller.weights
        self._before_scaling: dict[str, str] = {}

    def embeddings(self, ids: str, words: str, reader: str | None) -> str:
        """ids (batch, length), words (batch, length, hidden) -> the same shape, scaled for the reader"""
        graph = self._graph
        table = self._constant("semantic.embeddings.positions.weight")
        length = graph.node("Slice", graph.node("Shape", ids), graph.integers(1), graph.integers(2))
        positions = graph.node("Slice", table, graph.integers(0), length, graph.integers(0))
        return self._normalise("semantic.embeddings.norm", graph.node("Add", words, positions), reader)

    def layer(self, name: str, scaled: str, lengths: str, reader: str | None) -> str:
        """(batch, length, hidden), scaled for this layer -> the same, scaled for the reader"""
        graph, arithmetic = self._graph, self._arithmetic
        qkv, up = f"{name}.attention.qkv", f"{name}.feed_forward.up"
        attended = arithmetic.attend(graph, qkv, scaled, lengths, self._encoder.heads)
        attended = self._dense(f"{name}.attention.out", attended)
        attended = graph.node("Add", attended, self.unscaled(qkv, scaled))
        scaled = self._normalise(f"{name}.attention_norm", attended, up)
        wide = graph.node("Gelu", arithmetic.dense(graph, up, scaled), domain=MICROSOFT)
        narrow = self._dense(f"{name}.feed_forward.down", wide)
        narrow = graph.node("Add", narrow, self.unscaled(up, scaled))
        return self._normalise(f"{name}.output_norm", narrow, reader)

    def probabilities(self, hidden: str) -> str:
        """(batch, length, hidden) -> the probability of each character, (batch, length - 2, vocabulary)"""
        return self._graph.node("Softmax", self._arithmetic.score(self._graph, self._head(hidden)), axis=-1)

    def probability_of(self, probabilities: str, ids: str) -> str:
        """The probability of the source character at each position: (batch, length - 2)"""
        graph = self._graph
        source = graph.node("Unsqueeze", self._inner(ids), graph.integers(2))
        return graph.node(
            "Squeeze", graph.node("GatherElements", probabilities, source, axis=2), graph.integers(2)
        )

    def own_probability(self, hidden: str, ids: str, words: str) -> str:
        """The same from the score of the source character alone, whose embedding is in `words`."""
        graph = self._graph
        product = graph.node("Mul", self._head(hidden), self._inner(words))
        score = graph.node("ReduceSum", product, graph.integers(2), keepdims=0)
        bias = graph.node("Gather", self._constant(f"{OUTPUT}.bias"), self._inner(ids))
        return graph.node("Sigmoid", graph.node("Add", score, bias))

    def output_candidates(self, probabilities: str) -> str:
        """Output the most probable characters of each position, and their probabilities, which it returns."""
        graph = self._graph
        best, candidates = graph.nodes("TopK", probabilities, graph.integers(BEST), outputs=2, axis=-1)
        shape: list[int | str] = ["batch", "characters", BEST]
        graph.output(graph.node("Cast", candidates, to=graph.INT32), "candidates", np.int32, shape)
        graph.output(best, "probabilities", np.float32, shape)
        return best

    def output_source_probability(self, probability: str) -> None:
        """Output the probability of the source character at each position."""
        self._graph.output(probability, "source_probability", np.float32, ["batch", "characters"])

    def _head(self, hidden: str) -> str:
        """(batch, length, hidden) -> what is multiplied by the embeddings, (batch, length - 2, hidden)"""
        graph = self._graph
        hidden = self._inner(hidden)
        if "head.dense.weight" not in self._weights:
            return hidden
        hidden = self._dense("head.dense", hidden)
        return self._normalise("head.norm", graph.node("Gelu", hidden, domain=MICROSOFT), None)

    def unscaled(self, reader: str | None, scaled: str) -> str:
        """A value that was scaled for the reader, as it was before."""
        channel_scale = self._arithmetic.channel_scale(reader) if reader else None
        if channel_scale is None:
            return scaled
        if scaled not in self._before_scaling:
            constant = self._graph.constant(f"{reader}.channel_scale", channel_scale)
            self._before_scaling[scaled] = self._graph.node("Mul", scaled, constant)
        return self._before_scaling[scaled]

    def _inner(self, value: str) -> str:
        """All positions but the first and the last column."""
        graph = self._graph
        return graph.node("Slice", value, graph.integers(1), graph.integers(-1), graph.integers(1))

    def _dense(self, name: str, value: str) -> str:
        """A dense layer whose input is not the output of a norm, which would have scaled it."""
        channel_scale = self._arithmetic.channel_scale(name)
        if channel_scale is not None:
            constant = self._graph.constant(f"{name}.inverse_channel_scale", 1 / channel_scale)
            value = self._graph.node("Mul", value, constant)
        return self._arithmetic.dense(self._graph, name, value)

    def _constant(self, name: str) -> str:
        return self._graph.constant(name, self._weights[name])

    def _normalise(self, name: str, value: str, reader: str | None) -> str:
        """Normalised and scaled for the reader in one step: the division is part of gain and bias."""
        scale = self._arithmetic.channel_scale(reader) if reader else None
        parts = [self._weights[f"{name}.{part}"] for part in ("weight", "bias")]
        gain, bias = (
            self._graph.constant(f"{name}.{part}", each if scale is None else each / scale)
            for part, each in zip(("weight", "bias"), parts, strict=True)
        )
        epsilon = self._encoder.norm_epsilon
        return self._graph.node("LayerNormalization", value, gain, bias, axis=-1, epsilon=epsilon)
