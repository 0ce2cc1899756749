"""What a model's dense layers see when it reads real text, and the model rounded accordingly."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from onnx import helper

from nmspeller.errors import InputError
from nmspeller.lab.export.arithmetic import Float
from nmspeller.lab.export.bert_graph import build
from nmspeller.lab.export.quantisation import quantise_layer, quantise_table
from nmspeller.lab.export.weights import TABLE, Source

_BATCH = 16
# Enough for a layer of 3,072 inputs to be known well, few enough to be held for all layers at once.
_ROWS = 8192

Samples = dict[str, NDArray[np.float32]]


def quantise_weights(source: Source, texts: Sequence[str]) -> Source:
    """The speller with rounded dense layers that is closest to the given one on `texts`.

    Raises:
        InputError: there is no text, or nothing left to round.
    """
    if not any(texts):
        raise InputError("there is no text to fit the integers to; give a file with some hundred sentences.")
    if source.encoder.fake_quantised:
        raise InputError(
            f"{source.folder} is rounded already: train on from it as it is, or export it without --texts."
        )
    weights = dict(source.weights)
    for name, samples in collect_activations(source, texts).items():
        if name == TABLE:
            owner, matrix, rounded = "head", TABLE, quantise_table(weights[TABLE], samples)
        else:
            owner, matrix = name, f"{name}.weight"
            # What attention gives has no far channels, and nobody could scale it for nothing.
            rounded = quantise_layer(weights[matrix], samples, even=name.endswith(".out"))
        weights[matrix] = rounded.weights
        weights[f"{owner}.bias"] = weights[f"{owner}.bias"] + rounded.amends
        weights[f"{owner}.steps"] = rounded.inputs.steps
        weights[f"{owner}.zero"] = np.array(rounded.inputs.zero, np.float32)
    return replace(source, encoder=replace(source.encoder, fake_quantised=True), weights=weights)


def collect_activations(source: Source, texts: Sequence[str]) -> Samples:
    """The inputs of every dense layer while the model reads the texts: (rows, width) each."""
    from nmspeller.runtime.onnx_runtime import onnxruntime

    arithmetic = Float(source.weights)
    model = build(source, arithmetic)
    for value in arithmetic.inputs.values():
        model.graph.output.append(helper.make_tensor_value_info(value, 1, None))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    heard: dict[str, list[NDArray[np.float32]]] = {name: [] for name in arithmetic.inputs}
    rows = 0
    for ids in _batches(source, texts):
        lengths = np.full(len(ids), ids.shape[1], np.int32)
        values = session.run(list(arithmetic.inputs.values()), {"ids": ids, "lengths": lengths})
        for name, value in zip(heard, values, strict=True):
            heard[name].append(value.reshape(-1, value.shape[-1]))
        rows += ids.size
        if rows >= _ROWS:
            break
    return {name: np.concatenate(values) for name, values in heard.items()}


def _batches(source: Source, texts: Sequence[str]) -> list[NDArray[np.int32]]:
    """The texts as batches without padding: each batch is cut to its shortest text."""
    vocabulary = source.vocabulary
    rows = sorted((vocabulary.encode(text) for text in texts if text), key=len)
    batches = []
    for first in range(0, len(rows), _BATCH):
        group = rows[first : first + _BATCH]
        length = min(len(group[0]), source.encoder.positions - 2)
        batch = np.stack([row[:length] for row in group])
        edge = np.ones((len(group), 1), np.int32)
        batches.append(np.hstack((edge * vocabulary.cls, batch, edge * vocabulary.sep)))
    # Long and short texts alike, should the rows be enough before all batches are read.
    order = np.random.default_rng(0).permutation(len(batches))
    return [batches[place] for place in order]
