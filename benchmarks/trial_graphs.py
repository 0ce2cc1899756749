"""Other graphs of the same model, tried for speed; their results differ by rounding alone."""

from typing import Any

import numpy as np
import onnx
from onnx import helper

from nmspeller.lab.export import bert_graph
from nmspeller.lab.export.arithmetic import Integer
from nmspeller.lab.export.graph import MICROSOFT, Graph
from nmspeller.lab.export.quantisation import Int8Weights
from nmspeller.lab.export.weights import OUTPUT, TABLE, SpellerWeights


class AttentionApart(Integer):
    """Queries, keys and values by three integer products, then attention with floats."""

    def attend(self, graph: Graph, name: str, value: str, lengths: str, heads: int) -> str:
        layer = Int8Weights.of(self._weights[f"{name}.weight"], self._inputs(name))
        value, zero_point = self._bytes(graph, name, value)
        parts = zip(
            *(np.split(each, 3) for each in (layer.weights, layer.scales, self._weights[f"{name}.bias"])),
            strict=True,
        )
        three = [
            graph.node(
                "MatMulIntegerToFloat", value, graph.constant(f"{name}.{number}.weight", weights.T),
                graph.scalar(1.0), graph.constant(f"{name}.{number}.scale", scales), zero_point, "",
                graph.constant(f"{name}.{number}.bias", bias), domain=MICROSOFT,
            )
            for number, (weights, scales, bias) in enumerate(parts)
        ]  # fmt: skip
        return graph.node("MultiHeadAttention", *three, "", lengths, domain=MICROSOFT, num_heads=heads)


class AttentionWithoutMask(AttentionApart):
    """The same without a mask, right where all rows have one length."""

    def attend(self, graph: Graph, name: str, value: str, lengths: str, heads: int) -> str:
        return super().attend(graph, name, value, "", heads)


class Standard(Integer):
    """Standard operators alone, every product between QuantizeLinear and DequantizeLinear, as OpenVINO wants.

    The zero point is added before a value becomes bytes, and what that adds to a product is taken from its
    bias, since products of bytes without a zero point are faster.
    """

    _mask: str | None = None

    def score(self, graph: Graph, value: str) -> str:
        return self._product(graph, OUTPUT, value, Int8Weights.of(self._weights[TABLE]), 1.0)

    def dense(self, graph: Graph, name: str, value: str) -> str:
        inputs = self._inputs(name)
        layer = Int8Weights.of(self._weights[f"{name}.weight"], inputs)
        return self._product(graph, name, value, layer, float(inputs.scale.min()))

    def attend(self, graph: Graph, name: str, value: str, lengths: str, heads: int) -> str:
        width = self._weights[f"{name}.weight"].shape[1]
        shape = graph.integers(0, 0, 3, heads, width // heads)
        apart = graph.node("Reshape", self.dense(graph, name, value), shape)
        apart = graph.node("Transpose", apart, perm=[2, 0, 3, 1, 4])
        query, key, value = (
            graph.node("Squeeze", each, graph.integers(0))
            for each in graph.nodes("Split", apart, outputs=3, axis=0)
        )
        scores = graph.node("MatMul", query, graph.node("Transpose", key, perm=[0, 1, 3, 2]))
        scores = graph.node("Mul", scores, graph.scalar((heads / width) ** 0.5))
        weights = graph.node("Softmax", graph.node("Add", scores, self._masked(graph, lengths)), axis=-1)
        mixed = graph.node("Transpose", graph.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        return graph.node("Reshape", mixed, graph.integers(0, 0, width))

    def _masked(self, graph: Graph, lengths: str) -> str:
        if self._mask is None:
            length = graph.node("ReduceMax", lengths, keepdims=0)
            zero, one = (graph.constant(f"whole_{n}", np.array(n, np.int32)) for n in (0, 1))
            places = graph.node("Range", zero, length, one)
            inside = graph.node("Less", places, graph.node("Unsqueeze", lengths, graph.integers(1)))
            mask = graph.node("Where", inside, graph.scalar(0.0), graph.scalar(-1e4))
            self._mask = graph.node("Unsqueeze", mask, graph.integers(1, 2))
        return self._mask

    def _product(self, graph: Graph, name: str, value: str, layer: Int8Weights, weight_unit: float) -> str:
        inputs = self._inputs(name)
        unit = float(inputs.scale.min())
        scale, zero = graph.scalar(unit), graph.byte(0)
        value = graph.node("Add", value, graph.scalar(inputs.zero_point * unit))
        value = graph.node("DequantizeLinear", graph.node("QuantizeLinear", value, scale, zero), scale, zero)
        scales = (layer.scales / weight_unit).astype(np.float32)
        weights = graph.node(
            "DequantizeLinear",
            graph.constant(f"{name}.columns", layer.weights.T),
            graph.constant(f"{name}.columns_scale", scales),
            graph.constant(f"{name}.columns_zero", np.zeros(len(scales), np.int8)),
            axis=1,
        )
        added = inputs.zero_point * unit * scales * layer.weights.astype(np.int64).sum(axis=1)
        bias = (self._weights[f"{name}.bias"] - added).astype(np.float32)
        product = graph.node("MatMul", value, weights)
        return graph.node("Add", product, graph.constant(f"{name}.shifted_bias", bias))


def graphs(speller: SpellerWeights) -> dict[str, onnx.ModelProto]:
    """The graphs by what the page calls them; the first is what the exporter writes."""

    def build(arithmetic: type[Integer]) -> onnx.ModelProto:
        return bert_graph.build(speller, arithmetic(speller.weights))

    return {
        "the shipped graph": build(Integer),
        "attention apart from its products": build(AttentionApart),
        "the same without a mask": build(AttentionWithoutMask),
        "addition and normalisation fused": _fuse_additions(build(Integer)),
        "GELU by tanh": _with_fast_gelu(build(Integer)),
        "QuantizeLinear and DequantizeLinear": standard(speller),
    }


def standard(speller: SpellerWeights) -> onnx.ModelProto:
    """The graph of standard operators, of a version that has GELU."""
    model = bert_graph.build(speller, Standard(speller.weights))
    for node in model.graph.node:
        node.domain = ""
        if node.op_type == "Split":
            node.attribute.append(helper.make_attribute("num_outputs", 3))
    del model.opset_import[:]
    model.opset_import.append(helper.make_opsetid("", 20))
    return model


def _with_fast_gelu(model: onnx.ModelProto) -> onnx.ModelProto:
    for node in model.graph.node:
        if node.op_type == "Gelu":
            node.op_type = "FastGelu"
    return model


def _fuse_additions(model: onnx.ModelProto) -> onnx.ModelProto:
    """Each addition whose sum is only normalised, fused with its normalisation."""
    makers: dict[str, Any] = {name: node for node in model.graph.node for name in node.output}
    for node in [node for node in model.graph.node if node.op_type == "LayerNormalization"]:
        addition = makers[node.input[0]]
        if addition.op_type == "Add" and makers[addition.input[1]].op_type != "Slice":
            fused = [*addition.input, *node.input[1:]]
            del node.input[:]
            node.input.extend(fused)
            node.op_type, node.domain = "SkipLayerNormalization", MICROSOFT
            epsilon = next(each for each in node.attribute if each.name == "epsilon")
            kept = helper.make_attribute("epsilon", epsilon.f)
            del node.attribute[:]
            node.attribute.append(kept)
            model.graph.node.remove(addition)
    return model
