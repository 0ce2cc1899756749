"""A speller with fewer neurons in its feed-forward blocks, as a start for training.

Of each block, the neurons are removed whose share in its outputs on real text the others can best take over
(optimal brain surgeon, as ZipLM prunes structures). What the others then have to do is found by least
squares. Nothing is trained: a training with the whole model as the teacher makes up for what is lost.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.export.activations import collect_activations
from nmspeller.lab.export.weights import SpellerWeights

Doubles = NDArray[np.float64]

# Rows of activations for each neuron of a block: least squares with fewer fit the samples too closely.
_ROWS_A_NEURON = 8
# What is added to each neuron's mean square, as a share of it, to the same end.
_DAMPING = 0.003
# Neurons that are removed at a time, before the others are judged again: none that would take over for
# another.
_AT_A_TIME = 8
_INDEPENDENT = 0.01


def prune(speller: SpellerWeights, texts: Sequence[str], neurons: int) -> SpellerWeights:
    """The speller with so many neurons in each feed-forward block.

    Raises:
        InputError: there is no text, or not so many neurons.
    """
    width = speller.encoder.intermediate
    if not 0 < neurons < width:
        raise InputError(f"the blocks have {width} neurons; keep fewer of them, and at least one.")
    if not any(texts):
        raise InputError("there is no text to prune by; give a file with some thousand sentences.")
    blocks = [f"semantic.layers.{number}.feed_forward" for number in range(speller.encoder.layers)]
    rows = _ROWS_A_NEURON * width
    samples = collect_activations(speller, texts, names=[f"{block}.down" for block in blocks], rows=rows)
    weights = dict(speller.weights)
    for block in blocks:
        up, down = f"{block}.up", f"{block}.down"
        products = _products(samples.pop(down))
        outputs = np.column_stack((weights[f"{down}.weight"], weights[f"{down}.bias"])).astype(np.float64)
        kept = _most_needed(products, outputs, neurons)
        fitted = _fit(products, outputs, kept)
        weights[f"{down}.weight"] = fitted[:, :-1].astype(np.float32)
        weights[f"{down}.bias"] = fitted[:, -1].astype(np.float32)
        for name in (f"{up}.weight", f"{up}.bias", f"{down}.scale"):
            if name in weights:
                weights[name] = weights[name][kept]
    return replace(speller, encoder=replace(speller.encoder, intermediate=neurons), weights=weights)


def _products(inputs: NDArray[np.float32]) -> Doubles:
    """The mean products of all neurons, and of one that is always 1: (neurons + 1, neurons + 1)."""
    with_one = np.column_stack((inputs, np.ones(len(inputs), np.float32)))
    products: Doubles = (with_one.T @ with_one).astype(np.float64) / len(inputs)
    neurons = np.arange(inputs.shape[1])
    products[neurons, neurons] *= 1 + _DAMPING
    products[neurons, neurons] += 1e-9  # of a neuron that is silent throughout
    return products


def _most_needed(products: Doubles, outputs: Doubles, count: int) -> NDArray[np.intp]:
    """So many neurons, in order; outputs: (outputs, neurons + 1) weights."""
    inverse, left = np.asarray(np.linalg.inv(products), np.float64), outputs.copy()
    kept = np.ones(len(products) - 1, np.bool_)
    while (surplus := int(kept.sum()) - count) > 0:
        loss = np.square(left[:, :-1]).sum(axis=0) / np.diag(inverse)[:-1]
        loss[~kept] = np.inf
        worst = _independent(inverse, loss, min(_AT_A_TIME, surplus))
        share = np.linalg.solve(inverse[np.ix_(worst, worst)], inverse[worst])
        left -= left[:, worst] @ share
        inverse -= inverse[:, worst] @ share
        kept[worst] = False
        # What rounding leaves of a removed neuron must never count again.
        left[:, worst], inverse[worst], inverse[:, worst] = 0, 0, 0
        inverse[worst, worst] = 1
    return np.flatnonzero(kept)


def _independent(inverse: Doubles, loss: Doubles, most: int) -> NDArray[np.intp]:
    """The neurons of least loss, as far as none of them takes over for another: (at most `most`,)."""
    diagonal, chosen = np.diag(inverse), list[int]()
    for neuron in np.argsort(loss, kind="stable")[: 4 * most].tolist():
        shared = np.square(inverse[neuron, chosen]) / (diagonal[neuron] * diagonal[chosen])
        if len(chosen) < most and (shared < _INDEPENDENT).all():
            chosen.append(neuron)
    return np.array(chosen)


def _fit(products: Doubles, outputs: Doubles, kept: NDArray[np.intp]) -> Doubles:
    """The weights of those neurons, and the bias, that come closest: (outputs, kept + 1)."""
    chosen = np.append(kept, len(products) - 1)
    wanted = outputs @ products[:, chosen]
    return np.asarray(np.linalg.solve(products[np.ix_(chosen, chosen)], wanted.T).T)
