"""The BERT speller as an ONNX graph: ids in, the best few characters of every position out."""

import numpy as np

from nmspeller.runtime.arithmetic import Arithmetic
from nmspeller.runtime.graph import MICROSOFT, Graph
from nmspeller.runtime.weights import Source

BEST = 5


def build(source: Source, arithmetic: Arithmetic) -> Graph:
    """The whole graph.

    Inputs: `ids` (batch, length) int32 with [CLS] first and [SEP] behind each text, padded; `lengths` (batch,)
    int32, the special tokens counted. Outputs, for every position but the first and the last column:
    `best` (batch, length - 2, 5) int32, `probabilities` of the same shape, and `kept` (batch, length - 2), the
    probability of the character that stands there.
    """
    graph = Graph()
    ids = graph.input("ids", np.int32, ["batch", "length"])
    lengths = graph.input("lengths", np.int32, ["batch"])
    hidden = _embeddings(graph, source, arithmetic, ids)
    for layer in range(source.layers):
        hidden = _layer(graph, source, arithmetic, f"bert.encoder.layer.{layer}", hidden, lengths)
    _head(graph, source, arithmetic, hidden, ids)
    return graph


def _embeddings(graph: Graph, source: Source, arithmetic: Arithmetic, ids: str) -> str:
    words = arithmetic.gather(graph, "bert.embeddings.word_embeddings.weight", ids)
    # Token types are always the first, so they are folded into the positions.
    table = (
        source.weights["bert.embeddings.position_embeddings.weight"]
        + source.weights["bert.embeddings.token_type_embeddings.weight"][0]
    )
    length = graph.node("Slice", graph.node("Shape", ids), graph.integers(1), graph.integers(2))
    positions = graph.node(
        "Slice", graph.constant("positions", table), graph.integers(0), length, graph.integers(0)
    )
    summed = graph.node("Add", words, positions)
    return _normalise(graph, source, "bert.embeddings.LayerNorm", summed)


def _layer(graph: Graph, source: Source, arithmetic: Arithmetic, name: str, hidden: str, lengths: str) -> str:
    query, key, value = arithmetic.linears(
        graph, [f"{name}.attention.self.{part}" for part in ("query", "key", "value")], hidden
    )
    context = graph.node(
        "MultiHeadAttention", query, key, value, "", lengths, domain=MICROSOFT, num_heads=source.heads
    )
    attended = arithmetic.linear(graph, f"{name}.attention.output.dense", context)
    hidden = _add_and_normalise(graph, source, f"{name}.attention.output.LayerNorm", attended, hidden)
    wide = arithmetic.linear_gelu(graph, f"{name}.intermediate.dense", hidden)
    narrow = arithmetic.linear(graph, f"{name}.output.dense", wide)
    return _add_and_normalise(graph, source, f"{name}.output.LayerNorm", narrow, hidden)


def _head(graph: Graph, source: Source, arithmetic: Arithmetic, hidden: str, ids: str) -> None:
    inner = graph.integers(1), graph.integers(-1), graph.integers(1)
    hidden = graph.node("Slice", hidden, *inner)
    hidden = arithmetic.linear_gelu(graph, "cls.predictions.transform.dense", hidden)
    hidden = _normalise(graph, source, "cls.predictions.transform.LayerNorm", hidden)
    logits = arithmetic.scores(
        graph, "bert.embeddings.word_embeddings.weight", "cls.predictions.bias", hidden
    )
    total = graph.node("ReduceLogSumExp", logits, axes=[-1], keepdims=1)
    best, where = graph.nodes("TopK", logits, graph.integers(BEST), outputs=2, axis=-1)
    standing = graph.node("Unsqueeze", graph.node("Slice", ids, *inner), graph.integers(2))
    kept = graph.node("GatherElements", logits, standing, axis=2)
    shape: list[int | str] = ["batch", "characters"]
    graph.output(graph.node("Cast", where, to=6), "best", np.int32, [*shape, BEST])
    probabilities = graph.node("Exp", graph.node("Sub", best, total))
    graph.output(probabilities, "probabilities", np.float32, [*shape, BEST])
    kept = graph.node("Exp", graph.node("Sub", kept, total))
    graph.output(graph.node("Squeeze", kept, graph.integers(2)), "kept", np.float32, shape)


def _normalise(graph: Graph, source: Source, name: str, value: str) -> str:
    gain, bias = (
        graph.constant(f"{name}.{part}", source.weights[f"{name}.{part}"]) for part in ("weight", "bias")
    )
    return graph.node("LayerNormalization", value, gain, bias, axis=-1, epsilon=source.epsilon)


def _add_and_normalise(graph: Graph, source: Source, name: str, value: str, skip: str) -> str:
    gain, bias = (
        graph.constant(f"{name}.{part}", source.weights[f"{name}.{part}"]) for part in ("weight", "bias")
    )
    return graph.node(
        "SkipLayerNormalization", value, skip, gain, bias, domain=MICROSOFT, epsilon=source.epsilon
    )
