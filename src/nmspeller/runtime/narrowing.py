"""A speller whose layers have fewer inner units: where a faster one starts to learn from it.

Every layer widens its input, bends it and narrows it again. The units in between are taken away a few at a
time, those first without which the layer's outputs on real text change least, and each time the weights of
the units that stay make up for those that go (the optimal brain surgeon, for whole units). A relu in place of
a gelu bends faster still; the weights behind it are fitted to what the layer said before.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.runtime.calibration import listen
from nmspeller.runtime.quantise import Floats
from nmspeller.runtime.weights import Source, Weights

# Units that go at once: few, since two that stand in for each other must not go together.
_AT_ONCE = 8
# Keeps the weights from being fitted to the samples: a share of the units' mean variance.
_DAMPING = 0.02


def narrow_source(source: Source, texts: Sequence[str], width: int, *, relu: bool = False) -> Source:
    """The speller with `width` inner units a layer that is closest to the given one on `texts`, in floats.

    relu: bend them by a relu, whatever bent them before; all of them may then be kept.

    Raises:
        InputError: there is no text, or the layers have no more units than that.
    """
    if not any(texts):
        raise InputError("there is no text to choose the units by; give a file with some hundred sentences.")
    most = source.encoder.intermediate - (not relu)
    if not 0 < width <= most:
        raise InputError(f"give a width from 1 to {most}.")
    weights = {
        name: array
        for name, array in source.weights.items()
        if not name.endswith((".steps", ".zero"))  # of a rounded one, whose steps hold for its own units
    }
    heard = listen(source, texts)
    for layer in (name.removesuffix(".down") for name in heard if name.endswith(".down")):
        units = heard[f"{layer}.down"]
        if relu:
            units = _bend_by_relu(weights, layer, heard[f"{layer}.up"], units)
        _narrow_layer(weights, layer, units, width)
    encoder = replace(source.encoder, intermediate=width, rounded=False)
    if relu:
        encoder = replace(encoder, activation="relu")
    return replace(source, encoder=encoder, weights=weights)


def _bend_by_relu(weights: Weights, layer: str, inputs: Floats, units: Floats) -> Floats:
    """Fit the layer's outputs to a relu, and give what its inner units say then, (rows, units).

    inputs: (rows, hidden), what the layer widens. units: (rows, units), what its inner units said so far.
    """
    down, bias = weights[f"{layer}.down.weight"], weights[f"{layer}.down.bias"]
    bent: Floats = np.maximum(inputs @ weights[f"{layer}.up.weight"].T + weights[f"{layer}.up.bias"], 0)
    missing = (units - bent) @ down.T
    spread = bent - bent.mean(axis=0)
    more = np.linalg.solve(_products(spread), spread.T @ (missing - missing.mean(axis=0))).T
    fitted = down + more.astype(np.float32)
    weights[f"{layer}.down.weight"] = fitted
    weights[f"{layer}.down.bias"] = bias + units.mean(axis=0) @ down.T - bent.mean(axis=0) @ fitted.T
    return bent


def _narrow_layer(weights: Weights, layer: str, samples: Floats, width: int) -> None:
    """Replace the layer's weights; samples: (rows, units), what its inner units say."""
    down, bias = weights[f"{layer}.down.weight"], weights[f"{layer}.down.bias"]
    kept, narrowed = keep_units(down, samples, width)
    means = samples.mean(axis=0)
    weights[f"{layer}.down.weight"] = narrowed
    weights[f"{layer}.down.bias"] = bias + down @ means - narrowed @ means[kept]
    for part in ("weight", "bias"):
        weights[f"{layer}.up.{part}"] = weights[f"{layer}.up.{part}"][kept]


def keep_units(weights: Floats, samples: Floats, width: int) -> tuple[NDArray[np.intp], Floats]:
    """Which inputs of a dense layer to keep, (width,), ascending, and its new weights, (outputs, width).

    weights: (outputs, inputs). samples: (rows, inputs), what it reads; their means are left to the bias.
    """
    spread = samples - samples.mean(axis=0)
    inverse = np.linalg.inv(_products(spread))
    left = weights.astype(np.float64)
    stays = np.ones(weights.shape[1], np.bool_)
    while (surplus := int(stays.sum()) - width) > 0:
        costs = np.full(len(stays), np.inf)
        costs[stays] = np.square(left[:, stays]).sum(axis=0) / np.diag(inverse)[stays]
        going = np.argsort(costs, kind="stable")[: min(_AT_ONCE, surplus)]
        makes_up = np.linalg.solve(inverse[np.ix_(going, going)], inverse[going])
        left -= left[:, going] @ makes_up
        inverse -= inverse[:, going] @ makes_up
        stays[going] = False
    kept = np.flatnonzero(stays)
    return kept, left[:, kept].astype(np.float32)


def _products(spread: Floats) -> NDArray[np.float64]:
    """How much the columns of (rows, units) vary together, damped: (units, units)."""
    products: NDArray[np.float64] = (spread.T @ spread).astype(np.float64)
    products[np.diag_indices_from(products)] += _DAMPING * np.trace(products) / len(products) + 1e-12
    return products
