"""An exported model's constants as the structs of the library."""

import math
from ctypes import POINTER, c_float, c_int8, c_int32
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.native.library import Block, Dense, FloatDense, Layer, Model, Norm
from nmspeller.runtime.native.onnx_file import Node, OnnxFile

LANES = 16
"""The library computes with so many channels at a time."""
KINDS, NEIGHBOURS, LIKELIHOODS = 3, 2, 4
"""Sizes of the network of tags that the library has for constants; see `native/model.h`."""
_TABLE, _POSITIONS = "semantic.embeddings.words.weight", "semantic.embeddings.positions.weight"
_OUTPUT = "head.output"
# Integer products, and which of their inputs are the scale of the weights and the zero point.
_PRODUCTS = {"MatMulIntegerToFloat": (3, 4), "QAttention": (4, 6)}


class UnsupportedError(Exception):
    """A model that only ONNX Runtime runs."""


@dataclass
class Weights:
    """A model for the library; `alive` are the arrays that `model` points into."""

    file: OnnxFile
    alive: list[Any] = field(default_factory=list)

    def model(self) -> Model:
        """The struct.

        Raises:
            UnsupportedError: the model is one of floats, or of other sizes than the library takes.
            KeyError: the file lacks something.
            ValueError: something in it has another shape or type than the rest.
        """
        constants, facts = self.file.constants, self.file.facts
        if facts["arithmetic"] != "integer":
            raise UnsupportedError("a model of floats")
        self._makers = {output: node for node in self.file.nodes for output in node.outputs}
        self._steps = dict(filter(None, map(self._input_steps, self.file.nodes)))
        vocabulary, hidden = constants[_TABLE].shape
        layers = sum(name.endswith(".attention.qkv") for name in self._steps)
        attention = next(node for node in self.file.nodes if node.operator == "QAttention")
        norm = next(node for node in self.file.nodes if node.operator == "LayerNormalization")
        intermediate = constants["semantic.layers.0.feed_forward.up.weight"].shape[1]
        heads = int(attention.attributes["num_heads"])
        if hidden % LANES or intermediate % LANES or hidden % heads:
            raise UnsupportedError("channels that are no whole lanes, or no whole heads")
        self._hidden, self._intermediate = hidden, intermediate
        longest = len(constants[_POSITIONS])
        model = Model(
            vocabulary=vocabulary,
            hidden=hidden,
            intermediate=intermediate,
            layers=layers,
            heads=heads,
            longest=longest,
            scores_all=_OUTPUT in self._steps,
            epsilon=norm.attributes["epsilon"],
            table_scale=1.0,
            table=self._bytes(_TABLE, (vocabulary, hidden)),
            table_scales=self._floats(f"{_TABLE}.weight_scale", (vocabulary,)),
            table_bias=self._floats(f"{_OUTPUT}.bias", (vocabulary,)),
            positions=self._floats(_POSITIONS, (longest, hidden)),
            embedding_norm=self._norm("semantic.embeddings.norm", hidden),
            layer=self._kept((Layer * layers)(*map(self._layer, range(layers)))),
        )
        if _OUTPUT in self._steps:
            model.table_scale, model.table_zero_point = self._steps[_OUTPUT]
        if "head.dense" in self._steps:
            model.head = self._dense("head.dense", hidden, hidden)
            model.head_norm = self._norm("head.norm", hidden)
        if "tags.output.weight" in constants:
            self._add_tags(model, layers)
        return model

    def _add_tags(self, model: Model, layers: int) -> None:
        """The network of tags: see `nmspeller.lab.models.tag_network`."""
        width = len(self.file.constants["tags.norm.weight"])
        names = [name for name in self.file.constants if name.startswith("tags.blocks.")]
        blocks = sorted({name.split(".")[2] for name in names}, key=int)
        model.states_read = self._kept((c_int32 * 4)(*(-(-layers * quarter // 4) for quarter in range(1, 5))))
        model.states = self._float_dense("tags.states", 4 * self._hidden, width)
        model.likelihoods = self._float_dense("tags.likelihoods", LIKELIHOODS, width)
        model.tags = self._float_dense("tags.output", width, KINDS)
        model.tag_norm = self._norm("tags.norm", width)
        model.tag_output_norm = self._norm("tags.output_norm", width)
        model.blocks = len(blocks)
        model.block = self._kept(
            (Block * len(blocks))(*(self._block(f"tags.blocks.{number}", width) for number in blocks))
        )

    def _block(self, name: str, width: int) -> Block:
        return Block(
            self._norm(f"{name}.norm", width),
            self._float_dense(f"{name}.neighbours", (2 * NEIGHBOURS + 1) * width, 2 * width),
            self._float_dense(f"{name}.out", 2 * width, width),
        )

    def _input_steps(self, node: Node) -> tuple[str, tuple[float, int]] | None:
        """The layer that an integer product computes, the step of its input, and its zero point."""
        if node.operator not in _PRODUCTS:
            return None
        scale, zero_point = (node.inputs[place] for place in _PRODUCTS[node.operator])
        name = scale.removesuffix(".weight_scale")
        step = float(self.file.constants[self._makers[node.inputs[0]].inputs[1]])
        zero = int(self.file.constants[zero_point])
        if not (math.isfinite(step) and step > 0 and 0 <= zero <= 255):
            raise ValueError(f"{name} has no possible step")
        return _OUTPUT if name == _TABLE else name, (step, zero)

    def _layer(self, number: int) -> Layer:
        name, hidden, intermediate = f"semantic.layers.{number}", self._hidden, self._intermediate
        return Layer(
            self._dense(f"{name}.attention.qkv", hidden, 3 * hidden),
            self._dense(f"{name}.attention.out", hidden, hidden),
            self._dense(f"{name}.feed_forward.up", hidden, intermediate),
            self._dense(f"{name}.feed_forward.down", intermediate, hidden),
            self._norm(f"{name}.attention_norm", hidden),
            self._norm(f"{name}.output_norm", hidden),
            self._optional_floats(f"{name}.attention.qkv.channel_scale", (hidden,)),
            self._optional_floats(f"{name}.feed_forward.up.channel_scale", (hidden,)),
        )

    def _dense(self, name: str, width: int, outputs: int) -> Dense:
        return Dense(
            self._bytes(f"{name}.weight", (width, outputs)),
            self._floats(f"{name}.weight_scale", (outputs,)),
            self._floats(f"{name}.bias", (outputs,)),
            self._optional_floats(f"{name}.inverse_channel_scale", (width,)),
            *self._steps[name],
            width,
            outputs,
        )

    def _float_dense(self, name: str, width: int, outputs: int) -> FloatDense:
        weights = self._floats(f"{name}.weight", (width, outputs))
        return FloatDense(weights, self._floats(f"{name}.bias", (outputs,)), width, outputs)

    def _norm(self, name: str, width: int) -> Norm:
        return Norm(self._floats(f"{name}.weight", (width,)), self._floats(f"{name}.bias", (width,)))

    def _optional_floats(self, name: str, shape: tuple[int, ...]) -> Any:
        return self._floats(name, shape) if name in self.file.constants else None

    def _floats(self, name: str, shape: tuple[int, ...]) -> Any:
        """A pointer to a constant, which may be stored in half precision."""
        array = np.ascontiguousarray(self._constant(name, shape), np.float32)
        return self._kept(array).ctypes.data_as(POINTER(c_float))

    def _bytes(self, name: str, shape: tuple[int, ...]) -> Any:
        array = self._constant(name, shape)
        if array.dtype != np.int8:
            raise ValueError(f"{name} has no bytes")
        return self._kept(array).ctypes.data_as(POINTER(c_int8))

    def _constant(self, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
        """A constant; the library, which is given no sizes of arrays, would read beyond another shape."""
        array = self.file.constants[name]
        if array.shape != shape:
            raise ValueError(f"{name} has the shape {array.shape} instead of {shape}")
        return array

    def _kept(self, made: Any) -> Any:
        self.alive.append(made)
        return made
