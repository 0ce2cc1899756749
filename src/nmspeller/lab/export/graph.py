"""A thin layer over onnx.helper: nodes and constants, named and collected into one model."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
MICROSOFT = "com.microsoft"


class Graph:
    """An ONNX graph under construction; values are referred to by name."""

    FLOAT, INT32, INT64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, kind: Any, shape: list[int | str]) -> str:
        """Declare an input."""
        self._inputs.append(helper.make_tensor_value_info(name, _onnx_type(kind), shape))
        return name

    def output(self, value: str, name: str, kind: Any, shape: list[int | str]) -> None:
        """Declare a value as an output under a name."""
        self._nodes.append(helper.make_node("Identity", [value], [name], name=name))
        self._outputs.append(helper.make_tensor_value_info(name, _onnx_type(kind), shape))

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """Store an array once; a name that is used again refers to the same array."""
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.array(array, order="C"), name)
        if tuple(self._constants[name].dims) != array.shape:
            raise ValueError(f"two different arrays have the name {name}")
        return name

    def integers(self, *values: int) -> str:
        """A one-dimensional int64 constant, as used for shapes and axes."""
        return self.constant("integers_" + "_".join(map(str, values)), np.array(values, np.int64))

    def integer(self, value: int) -> str:
        """An int64 constant without dimensions."""
        return self.constant(f"integer_{value}", np.array(value, np.int64))

    def scalar(self, value: float) -> str:
        """A float constant."""
        return self.constant(f"scalar_{value!r}", np.array(value, np.float32))

    def byte(self, value: int) -> str:
        """A uint8 constant, as used for zero points."""
        return self.constant(f"byte_{value}", np.array(value, np.uint8))

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator with one output and name that output."""
        return self.nodes(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def nodes(
        self, operator: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any
    ) -> tuple[str, ...]:
        """Add an operator with several outputs and name them."""
        stem = f"{operator}_{len(self._nodes)}"
        names = tuple(f"{stem}_{index}" for index in range(outputs))
        self._nodes.append(helper.make_node(operator, inputs, names, name=stem, domain=domain, **attributes))
        return names

    def model(self, facts: Mapping[str, str]) -> onnx.ModelProto:
        """The finished model, with `facts` as its metadata."""
        graph = helper.make_graph(
            self._nodes, "nmspeller", self._inputs, self._outputs, list(self._constants.values())
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="nmspeller")
        helper.set_model_props(model, dict(facts))
        return model


def _onnx_type(kind: Any) -> int:
    return {np.int32: TensorProto.INT32, np.float32: TensorProto.FLOAT}[kind]
