"""The weights of an exported model as they were before the export, for engines that compute in floats.

A model in integers gives back a rounded speller; see `nmspeller.lab.models.fake_quantisation`.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.export.weights import TABLE, Source, Weights
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.runtime.engine import FORMAT
from nmspeller.text.vocabulary import Vocabulary

Constants = dict[str, NDArray[Any]]

# Products in integers, and which of their inputs says how large one is.
_SCALES = {"MatMulIntegerToFloat": 3, "QAttention": 4}


def read_exported(folder: Path) -> Source:
    """Read the model.onnx of a folder that `nmspeller export` wrote.

    Raises:
        InputError: the onnx package is missing, or the file is damaged or somebody else's.
    """
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError as missing:
        raise InputError("reading model.onnx needs onnx: pip install 'nmspeller[train]'.") from missing
    try:
        model = onnx.load(folder / "model.onnx")
    except Exception as wrong:  # protobuf's own class is not part of its interface
        raise InputError(
            f"{folder}/model.onnx is damaged; write it again with `nmspeller export`."
        ) from wrong
    graph, facts = model.graph, {fact.key: fact.value for fact in model.metadata_props}
    if facts.get("format") != FORMAT:
        raise InputError(
            f"{folder}/model.onnx was not written by `nmspeller export`; give a folder that it wrote."
        )
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    makers = {output: node for node in graph.node for output in node.output}
    weights: Weights = {}
    for node in graph.node:
        attributes = {attribute.name: attribute for attribute in node.attribute}
        if node.op_type in _SCALES:
            _add_quantised_layer(weights, constants, node.input[_SCALES[node.op_type]], makers[node.input[0]])
        if node.op_type == "LayerNormalization":
            epsilon = attributes["epsilon"].f
        elif node.op_type in ("MultiHeadAttention", "QAttention"):
            heads = attributes["num_heads"].i
    for name, array in constants.items():
        # What no product in integers has claimed is stored as it was: positions, and a float export.
        owner, _, part = name.rpartition(".")
        if part in ("weight", "bias") and name not in weights and f"{owner}.scales" not in constants:
            dense = array.ndim == 2 and "embeddings" not in name
            weights[name] = array.T.astype(np.float32) if dense else array.astype(np.float32)
    for node in graph.node:
        if node.op_type == "Mul" and node.input[1].endswith(".reach"):
            # The normalisation before it took the division along.
            for name in makers[node.input[0]].input[1:3]:
                weights[name] = constants[name] * constants[node.input[1]]
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    encoder = EncoderConfig(
        vocabulary=weights[TABLE].shape[0],
        hidden=weights[TABLE].shape[1],
        layers=sum(name.endswith(".qkv.weight") for name in weights),
        heads=heads,
        intermediate=weights["semantic.layers.0.up.weight"].shape[0],
        positions=weights["semantic.embeddings.positions.weight"].shape[0],
        mask_id=vocabulary.mask,
        fake_quantised="head.steps" in weights,
        norm_epsilon=float(f"{epsilon:.6g}"),  # ONNX keeps it in single precision
    )
    return Source(encoder, weights, folder)


def _add_quantised_layer(weights: Weights, constants: Constants, scales: str, quantise: Any) -> None:
    """Add the layer whose `scales` these are, and how its inputs are rounded; see `arithmetic.Integer`."""
    name, scale = scales.removesuffix(".scales"), constants[scales][:, None]
    step, zero = (constants[part] for part in quantise.input[1:3])
    if name == TABLE:
        owner, weights[TABLE] = "head", constants[TABLE] * scale
        steps = np.full(weights[TABLE].shape[1], step)
    else:
        owner, columns = name, constants[f"{name}.weight"]
        reach = constants.get(f"{name}.reach", np.ones(len(columns), np.float32))
        steps = step * (1 / constants[f"{name}.share"] if f"{name}.share" in constants else reach)
        weights[f"{name}.weight"] = columns.T * scale / steps
    weights[f"{owner}.bias"] = constants[f"{owner}.bias"].copy()
    weights[f"{owner}.steps"] = steps.astype(np.float32)
    weights[f"{owner}.zero"] = np.array(zero, np.float32)
