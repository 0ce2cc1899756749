"""The activations of a model on real text, and the model quantised to fit them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from onnx import helper

from nmspeller.errors import InputError
from nmspeller.lab.export.arithmetic import Float
from nmspeller.lab.export.bert_graph import build
from nmspeller.lab.export.fitting import Samples, fit_to_samples
from nmspeller.lab.export.weights import SpellerWeights

_BATCH = 16
# Enough for a layer of 3,072 inputs, few enough to keep those of all layers in memory.
_ROWS = 8192


def quantise_weights(
    speller: SpellerWeights, texts: Sequence[str], *, candidates: bool = True
) -> SpellerWeights:
    """The fake-quantised speller that is closest to the given one on `texts`.

    candidates: as for `bert_graph.build`.

    Raises:
        InputError: there is no text, or the speller is fake-quantised already.
    """
    if not any(texts):
        raise InputError("there is no text to calibrate with; give a file with some hundred sentences.")
    if speller.encoder.fake_quantised:
        raise InputError(
            f"{speller.folder} is fake-quantised already: train it as it is, or export it without --texts."
        )
    return fit_to_samples(speller, collect_activations(speller, texts, candidates=candidates))


def collect_activations(
    speller: SpellerWeights,
    texts: Sequence[str],
    *,
    candidates: bool = True,
    names: Sequence[str] = (),
    rows: int = _ROWS,
) -> Samples:
    """The inputs of every dense layer, or of those named, on the texts: (about so many rows, width) each."""
    from nmspeller.runtime.onnx_runtime import onnxruntime

    arithmetic = Float(speller.weights)
    model = build(speller, arithmetic, candidates=candidates)
    inputs = {name: value for name, value in arithmetic.inputs.items() if not names or name in names}
    for value in inputs.values():
        model.graph.output.append(helper.make_tensor_value_info(value, 1, None))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    collected: dict[str, list[NDArray[np.float32]]] = {name: [] for name in inputs}
    read = 0
    for ids in _batches(speller, texts):
        lengths = np.full(len(ids), ids.shape[1], np.int32)
        values = session.run(list(inputs.values()), {"ids": ids, "lengths": lengths})
        for name, value in zip(collected, values, strict=True):
            collected[name].append(value.reshape(-1, value.shape[-1]))
        read += ids.size
        if read >= rows:
            break
    return {name: np.concatenate(values) for name, values in collected.items()}


def _batches(speller: SpellerWeights, texts: Sequence[str]) -> list[NDArray[np.int32]]:
    """The texts as batches without padding: each batch is cut to its shortest text."""
    vocabulary = speller.vocabulary
    rows = sorted((vocabulary.encode(text) for text in texts if text), key=len)
    batches = []
    for first in range(0, len(rows), _BATCH):
        group = rows[first : first + _BATCH]
        length = min(len(group[0]), speller.encoder.positions - 2)
        batch = np.stack([row[:length] for row in group])
        edge = np.ones((len(group), 1), np.int32)
        batches.append(np.hstack((edge * vocabulary.cls, batch, edge * vocabulary.sep)))
    # Shuffled, because only the first batches may be used: long and short texts alike.
    order = np.random.default_rng(0).permutation(len(batches))
    return [batches[place] for place in order]
