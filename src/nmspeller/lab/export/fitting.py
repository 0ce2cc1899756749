"""A speller quantised to fit the activations that were seen in its layers; needs numpy alone."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nmspeller.lab.export.quantisation import quantise_layer, quantise_table
from nmspeller.lab.export.weights import OUTPUT, TABLE, SpellerWeights

Samples = dict[str, NDArray[np.float32]]
"""The inputs of each dense layer, (rows, width), under its name; those of the output layer under TABLE."""


def fit_to_samples(speller: SpellerWeights, samples: Samples) -> SpellerWeights:
    """The fake-quantised speller that is closest to the given one on these inputs of its layers."""
    weights = dict(speller.weights)
    for name, inputs in samples.items():
        if name == TABLE:
            owner, matrix, layer = OUTPUT, TABLE, quantise_table(weights[TABLE], inputs)
        else:
            owner, matrix = name, f"{name}.weight"
            # The output of attention has no outlier channels, and no norm before it to absorb their scales.
            per_tensor = name.endswith(".attention.out")
            layer = quantise_layer(weights[matrix], inputs, per_tensor=per_tensor)
        weights[matrix] = layer.weights
        weights[f"{owner}.bias"] = weights[f"{owner}.bias"] + layer.bias_correction
        weights[f"{owner}.scale"] = layer.inputs.scale
        weights[f"{owner}.zero_point"] = np.array(layer.inputs.zero_point, np.float32)
    return replace(speller, encoder=replace(speller.encoder, fake_quantised=True), weights=weights)
