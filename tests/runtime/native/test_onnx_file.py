"""The reader of exported files beside the package onnx."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmspeller.runtime.native.onnx_file import OnnxFile
from nmspeller.runtime.pipeline import SHIPPED


def test_everything_is_read_as_the_package_reads_it() -> None:
    onnx = pytest.importorskip("onnx")
    path = SHIPPED / "prefilter.onnx"
    own, proto = OnnxFile.read(path), onnx.load(path)
    assert own.facts == {fact.key: fact.value for fact in proto.metadata_props}
    assert own.constants.keys() == {tensor.name for tensor in proto.graph.initializer}
    for tensor in proto.graph.initializer:
        expected = onnx.numpy_helper.to_array(tensor)
        assert own.constants[tensor.name].dtype == expected.dtype
        np.testing.assert_array_equal(own.constants[tensor.name], expected)
    for node, other in zip(own.nodes, proto.graph.node, strict=True):
        assert (node.operator, list(node.inputs), list(node.outputs)) == (
            other.op_type, list(other.input), list(other.output),
        )  # fmt: skip
        for attribute in other.attribute:
            if attribute.type in (onnx.AttributeProto.INT, onnx.AttributeProto.FLOAT):
                assert node.attributes[attribute.name] == onnx.helper.get_attribute_value(attribute)


@settings(max_examples=200, deadline=None)
@given(content=st.binary(max_size=200))
def test_any_other_content_is_an_error_in_one_way(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.onnx"
    path.write_bytes(content)
    try:
        OnnxFile.read(path)
    except ValueError:
        return


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        OnnxFile.read(tmp_path / "none.onnx")
