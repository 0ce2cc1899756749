"""The weights of an exported model as they were before the export, for engines that compute in floats.

A model in integers gives back what it holds: weights rounded to eight bits, inputs no longer rounded.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.models.config import EncoderConfig
from nmspeller.runtime.weights import TABLE, Source, Weights
from nmspeller.text.vocabulary import Vocabulary

Constants = dict[str, NDArray[Any]]


def read_exported(folder: Path) -> Source:
    """Read the model.onnx of a folder that `nmspeller export` wrote.

    Raises:
        InputError: the onnx package is missing, or the file is damaged.
    """
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError as missing:
        raise InputError("a GPU reads model.onnx through onnx: pip install 'nmspeller[train]'.") from missing
    try:
        graph = onnx.load(folder / "model.onnx").graph
    except Exception as wrong:  # protobuf's own class is not part of its interface
        raise InputError(
            f"{folder}/model.onnx is damaged; write it again with `nmspeller export`."
        ) from wrong
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights: Weights = {}
    for node in graph.node:
        attributes = {attribute.name: attribute for attribute in node.attribute}
        if node.op_type == "MatMulIntegerToFloat":
            _add_integer_layer(weights, constants, *node.input[2:5])
        elif node.op_type == "LayerNormalization":
            epsilon = attributes["epsilon"].f
        elif node.op_type == "MultiHeadAttention":
            heads = attributes["num_heads"].i
    for name, array in constants.items():
        # What no product in integers has claimed is stored as it was: norms, positions, and a float export.
        owner, _, part = name.rpartition(".")
        if part in ("weight", "bias") and name not in weights and f"{owner}.scales" not in constants:
            dense = array.ndim == 2 and "embeddings" not in name
            weights[name] = array.T.astype(np.float32) if dense else array.astype(np.float32)
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    encoder = EncoderConfig(
        vocabulary=weights[TABLE].shape[0],
        hidden=weights[TABLE].shape[1],
        layers=sum(name.endswith(".qkv.weight") for name in weights),
        heads=heads,
        intermediate=weights["semantic.layers.0.up.weight"].shape[0],
        positions=weights["semantic.embeddings.positions.weight"].shape[0],
        mask_id=vocabulary.mask,
        norm_epsilon=float(f"{epsilon:.6g}"),  # ONNX keeps it in single precision
    )
    return Source(encoder, weights, folder)


def _add_integer_layer(weights: Weights, constants: Constants, step: str, scales: str, zero: str) -> None:
    """Add the weight and the bias of the layer whose `scales` these are; see `arithmetic.Integer`."""
    name = scales.removesuffix(".scales")
    if f"{name}.weight" in weights or name in weights:
        return  # the second byte's product has the same weights
    scale, far = constants[scales], constants.get(f"{name}.far", np.zeros(0, np.int64))
    if name == TABLE:
        rows, own = constants[TABLE], ("head.bias", TABLE)
    else:
        columns = constants[f"{name}.weight"]
        rows, own = columns[: len(columns) - len(far)].T, (f"{name}.bias", f"{name}.weight")
    bias = constants[f"{name}.bias"]
    if len(far):
        # A far byte whose channel is elsewhere counts for this much, which the export took from the bias.
        idle = np.where(constants[f"{name}.offsets"] > 0, 0.0, 255.0) - float(constants[zero])
        bias = bias + (rows[:, far].astype(np.float32) @ idle.astype(np.float32)) * scale * constants[step]
    weights[own[0]] = bias.astype(np.float32)
    weights[own[1]] = rows.astype(np.float32) * scale[:, None]
