"""Whether ONNX Runtime's products of bytes are exact on this processor.

Without VNNI, x86 processors add two of them in 16 bits. Trained models hardly notice; those of the
tests, which have random weights, do.
"""

from functools import cache

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


@cache
def onnx_runtime_is_exact() -> bool:
    from nmspeller.runtime.onnx_runtime import onnxruntime

    weights = numpy_helper.from_array(np.full((4, 16), 127, np.int8), "weights")
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["bytes", "weights"], ["sums"])],
        "product",
        [helper.make_tensor_value_info("bytes", TensorProto.UINT8, [1, 4])],
        [helper.make_tensor_value_info("sums", TensorProto.INT32, [1, 16])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (sums,) = session.run(None, {"bytes": np.full((1, 4), 255, np.uint8)})
    return bool((sums == 4 * 255 * 127).all())


needs_exact_products = pytest.mark.skipif(
    not onnx_runtime_is_exact(), reason="ONNX Runtime's products of bytes overflow on this processor"
)
