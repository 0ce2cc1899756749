"""An exported model's constants as the structs of the library."""

import ctypes
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.native.library import Block, Dense, FloatDense, Layer, Model, Norm
from nmspeller.runtime.native.onnx_file import Node, OnnxFile

LANES = 16
"""Rows of these models are whole numbers of so many channels."""
_TABLE, _OUTPUT = "semantic.embeddings.words.weight", "head.output"
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
        """
        constants, facts = self.file.constants, self.file.facts
        if facts["arithmetic"] != "integer":
            raise UnsupportedError("a model of floats")
        self._makers = {output: node for node in self.file.nodes for output in node.outputs}
        self._products = dict(filter(None, map(self._product, self.file.nodes)))
        vocabulary, hidden = constants[_TABLE].shape
        layers = sum(name.endswith(".attention.qkv") for name in self._products)
        heads = next(node.attributes["num_heads"] for node in self.file.nodes if node.operator == "QAttention")
        intermediate = constants["semantic.layers.0.feed_forward.up.weight"].shape[1]
        if hidden % LANES or intermediate % LANES:
            raise UnsupportedError("channels that are no whole lanes")
        norm = next(node for node in self.file.nodes if node.operator == "LayerNormalization")
        positions = constants["semantic.embeddings.positions.weight"]
        scores_all = _OUTPUT in self._products
        model = Model(
            vocabulary=vocabulary,
            hidden=hidden,
            intermediate=intermediate,
            layers=layers,
            heads=int(heads),
            longest=len(positions),
            scores_all=scores_all,
            epsilon=norm.attributes["epsilon"],
            table_scale=1.0,
            table=self._bytes(constants[_TABLE]),
            table_scales=self._floats(f"{_TABLE}.weight_scale"),
            table_bias=self._floats(f"{_OUTPUT}.bias"),
            positions=self._floats("semantic.embeddings.positions.weight"),
            embedding_norm=self._norm("semantic.embeddings.norm"),
            layer=self._kept((Layer * layers)(*map(self._layer, range(layers)))),
        )
        if scores_all:
            model.table_scale, model.table_zero_point = self._products[_OUTPUT]
        if "head.dense" in self._products:
            model.head, model.head_norm = self._dense("head.dense"), self._norm("head.norm")
        if "tags.output.weight" in constants:
            self._add_tags(model, layers)
        return model

    def _add_tags(self, model: Model, layers: int) -> None:
        blocks = sum(
            name.startswith("tags.blocks.") and name.endswith(".out.weight") for name in self.file.constants
        )
        read = [-(-layers * quarter // 4) for quarter in range(1, 5)]
        model.states_read = self._kept((ctypes.c_int32 * 4)(*read))
        model.states, model.likelihoods, model.tags = map(
            self._float_dense, ("tags.states", "tags.likelihoods", "tags.output")
        )
        model.tag_norm, model.tag_output_norm = self._norm("tags.norm"), self._norm("tags.output_norm")
        model.blocks = blocks
        model.block = self._kept(
            (Block * blocks)(
                *(
                    Block(
                        self._norm(f"{name}.norm"),
                        self._float_dense(f"{name}.neighbours"),
                        self._float_dense(f"{name}.out"),
                    )
                    for name in (f"tags.blocks.{number}" for number in range(blocks))
                )
            )
        )

    def _product(self, node: Node) -> tuple[str, tuple[float, int]] | None:
        """The name of the layer that an integer product computes, and how its input is quantised."""
        if node.operator not in _PRODUCTS:
            return None
        scale, zero_point = (node.inputs[place] for place in _PRODUCTS[node.operator])
        name = scale.removesuffix(".weight_scale")
        step = self.file.constants[self._makers[node.inputs[0]].inputs[1]]
        zero = int(self.file.constants[zero_point])
        return _OUTPUT if name == _TABLE else name, (float(step), zero)

    def _layer(self, number: int) -> Layer:
        name = f"semantic.layers.{number}"
        parts = (f"{name}.{part}" for part in ("attention.qkv", "attention.out", "feed_forward.up", "feed_forward.down"))
        return Layer(
            *map(self._dense, parts),
            self._norm(f"{name}.attention_norm"),
            self._norm(f"{name}.output_norm"),
            self._floats(f"{name}.attention.qkv.channel_scale", optional=True),
            self._floats(f"{name}.feed_forward.up.channel_scale", optional=True),
        )

    def _dense(self, name: str) -> Dense:
        weights = self.file.constants[f"{name}.weight"]
        scale, zero_point = self._products[name]
        return Dense(
            self._bytes(weights),
            self._floats(f"{name}.weight_scale"),
            self._floats(f"{name}.bias"),
            self._floats(f"{name}.inverse_channel_scale", optional=True),
            scale,
            zero_point,
            *weights.shape,
        )

    def _float_dense(self, name: str) -> FloatDense:
        weights = self.file.constants[f"{name}.weight"]
        return FloatDense(self._floats(f"{name}.weight"), self._floats(f"{name}.bias"), *weights.shape)

    def _norm(self, name: str) -> Norm:
        return Norm(self._floats(f"{name}.weight"), self._floats(f"{name}.bias"))

    def _floats(self, name: str, *, optional: bool = False) -> Any:
        if optional and name not in self.file.constants:
            return None
        array = np.ascontiguousarray(self.file.constants[name], np.float32)
        return self._kept(array).ctypes.data_as(ctypes.POINTER(ctypes.c_float))

    def _bytes(self, array: NDArray[np.int8]) -> Any:
        return self._kept(np.ascontiguousarray(array)).ctypes.data_as(ctypes.POINTER(ctypes.c_int8))

    def _kept(self, made: Any) -> Any:
        self.alive.append(made)
        return made
