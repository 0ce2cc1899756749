"""The weights of an exported model as they were before the export, for engines that compute in floats.

An int8 model becomes a fake-quantised speller; see `nmspeller.lab.models.fake_quantisation`.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.export.weights import OUTPUT, TABLE, SpellerWeights, Weights
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.runtime.engine import FORMAT
from nmspeller.runtime.prefilter import FILE as PREFILTER
from nmspeller.text.vocabulary import Vocabulary

Constants = dict[str, NDArray[Any]]

# Integer products, and which of their inputs is the scale of the weights.
_WEIGHT_SCALE = {"MatMulIntegerToFloat": 3, "QAttention": 4}


def read_exported(folder: Path, file: str = "model.onnx") -> SpellerWeights:
    """Read the model.onnx of a folder that `nmspeller lab export` wrote.

    Raises:
        InputError: the onnx package is missing, or the file is damaged or was written by another program.
    """
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError as error:
        raise InputError(f"reading {file} needs onnx: pip install 'nmspeller[train]'.") from error
    try:
        model = onnx.load(folder / file)
    except Exception as error:  # protobuf's own class is not part of its interface
        raise InputError(
            f"{folder}/{file} is damaged; write it again with `nmspeller lab export`."
        ) from error
    graph, facts = model.graph, {fact.key: fact.value for fact in model.metadata_props}
    if facts.get("format") != FORMAT:
        raise InputError(
            f"{folder}/{file} was not written by `nmspeller lab export`; give a folder that it wrote."
        )
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    makers = {output: node for node in graph.node for output in node.output}
    weights: Weights = {}
    for node in graph.node:
        attributes = {attribute.name: attribute for attribute in node.attribute}
        if node.op_type in _WEIGHT_SCALE:
            scale = node.input[_WEIGHT_SCALE[node.op_type]]
            _add_quantised_layer(weights, constants, scale, makers[node.input[0]])
        if node.op_type == "LayerNormalization":
            epsilon = attributes["epsilon"].f
        elif node.op_type in ("MultiHeadAttention", "QAttention"):
            heads = attributes["num_heads"].i
    if TABLE not in weights and f"{TABLE}.weight_scale" in constants:
        # A prefilter scores the source character alone, which needs no product with the table.
        weights[TABLE] = constants[TABLE] * constants[f"{TABLE}.weight_scale"][:, None]
    for name, array in constants.items():
        # Everything else is stored unchanged: positions, norms, and all of a float export.
        owner, _, part = name.rpartition(".")
        if part in ("weight", "bias") and name not in weights and f"{owner}.weight_scale" not in constants:
            dense = array.ndim == 2 and "embeddings" not in name
            weights[name] = array.T.astype(np.float32) if dense else array.astype(np.float32)
    for node in graph.node:
        if node.op_type == "Mul" and node.input[1].endswith(".channel_scale"):
            # The division is part of the norm before it.
            for name in makers[node.input[0]].input[1:3]:
                weights[name] = constants[name] * constants[node.input[1]]
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    encoder = EncoderConfig(
        vocabulary=weights[TABLE].shape[0],
        hidden=weights[TABLE].shape[1],
        layers=sum(name.endswith(".attention.qkv.weight") for name in weights),
        heads=heads,
        intermediate=weights["semantic.layers.0.feed_forward.up.weight"].shape[0],
        positions=weights["semantic.embeddings.positions.weight"].shape[0],
        mask_id=vocabulary.mask,
        fake_quantised=f"{OUTPUT}.scale" in weights,
        norm_epsilon=float(f"{epsilon:.6g}"),  # ONNX stores it in single precision
    )
    return SpellerWeights(encoder, weights, folder)


def read_prefilter(folder: Path) -> SpellerWeights:
    """Read the prefilter of a folder, in floats: it is small enough to be quantised after training.

    Raises:
        InputError: as for a model.
    """
    return in_floats(read_exported(folder, PREFILTER))


def in_floats(quantised: SpellerWeights) -> SpellerWeights:
    """The same weights in a speller that does not round what it computes."""
    floats = {
        name: array
        for name, array in quantised.weights.items()
        if not name.endswith((".scale", ".zero_point"))
    }
    return replace(quantised, encoder=replace(quantised.encoder, fake_quantised=False), weights=floats)


def _add_quantised_layer(weights: Weights, constants: Constants, weight_scale: str, quantise: Any) -> None:
    """Add the layer with this weight scale, and how its inputs are quantised; see `arithmetic.Integer`."""
    name, scales = weight_scale.removesuffix(".weight_scale"), constants[weight_scale][:, None]
    scale, zero_point = (constants[part] for part in quantise.input[1:3])
    if name == TABLE:
        owner, weights[TABLE] = OUTPUT, constants[TABLE] * scales
        input_scale = np.full(weights[TABLE].shape[1], scale)
    else:
        owner, columns = name, constants[f"{name}.weight"]
        channel_scale = constants.get(f"{name}.channel_scale", np.ones(len(columns), np.float32))
        if f"{name}.inverse_channel_scale" in constants:
            channel_scale = 1 / constants[f"{name}.inverse_channel_scale"]
        input_scale = scale * channel_scale
        weights[f"{name}.weight"] = columns.T * scales / input_scale
    weights[f"{owner}.bias"] = constants[f"{owner}.bias"].copy()
    weights[f"{owner}.scale"] = input_scale.astype(np.float32)
    weights[f"{owner}.zero_point"] = np.array(zero_point, np.float32)
