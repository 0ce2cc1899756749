"""Int8 quantisation of a dense layer, chosen so that its outputs on real text change least.

A layer's input is stored as u8 = round(x / scale) + zero_point, clipped to 0..255, and its weights as int8
with one scale per output row. A few input channels have a range ten times as large as the others; a scale
that covers them would be too coarse for the rest. So the scale is chosen for the rest, and such a channel has
a scale that is larger by a power of two, for which its weights compensate. The scales are fixed, so that a
text gets the same answer alone and in any batch. The weights are quantised column by column, and the columns
still to come compensate each column's error (GPTQ).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

# How many outlier channels, at either end, the scale ignores, and which share of the remaining range it
# covers; all combinations are tried.
_OUTLIERS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24)
_CLIPS = (1.0, 0.85, 0.7)
# Where all channels share one scale, more of the range may have to be clipped.
_PER_TENSOR_CLIPS = (*_CLIPS, 0.5, 0.35, 0.25, 0.18)
# Rows on which the combinations are compared; GPTQ uses all rows.
_TRIAL_ROWS = 512
# Keeps GPTQ from overfitting the samples: a share of the inputs' mean square.
_DAMPING = 0.1


@dataclass(frozen=True)
class InputQuantisation:
    """How inputs become bytes: u8 = round(x / scale) + zero_point."""

    scale: Floats  # (width,)
    zero_point: int

    @property
    def channel_scale(self) -> Floats | None:
        """Each channel's scale as a multiple of the smallest, (width,); None where all are the same."""
        channel_scale: Floats = self.scale / self.scale.min()
        per_tensor = bool((channel_scale == 1).all())
        return None if per_tensor else channel_scale

    def fake_quantise(self, inputs: Floats) -> Floats:
        """The inputs, (rows, width), as they are after quantisation and back."""
        whole = np.clip(np.rint(inputs / self.scale), -self.zero_point, 255 - self.zero_point)
        quantised: Floats = (whole * self.scale).astype(np.float32)
        return quantised


@dataclass(frozen=True)
class Int8Weights:
    """Weights (outputs, width) as int8, with one scale per output, (outputs,).

    An output is the sum of weights * (bytes - zero_point), times its scale.
    """

    weights: NDArray[np.int8]
    scales: Floats

    @classmethod
    def of(cls, weights: Floats, inputs: InputQuantisation | None = None) -> "Int8Weights":
        """The weights of a layer with these inputs, or the rows of an embedding table, without inputs."""
        rows = weights if inputs is None else weights * inputs.scale
        scales = _row_scales(rows)
        return cls(np.rint(rows / scales[:, None]).astype(np.int8), scales)


@dataclass(frozen=True)
class QuantisedLayer:
    """A dense layer, still in floats, whose weights (outputs, width) are exactly what int8 represents.

    `bias_correction`, (outputs,), is to be added to the bias: it removes the mean error of quantisation.
    """

    inputs: InputQuantisation
    weights: Floats
    bias_correction: Floats


def quantise_layer(weights: Floats, samples: Floats, *, per_tensor: bool = False) -> QuantisedLayer:
    """The quantised layer that is closest to `weights` (outputs, width) on `samples` (rows, width).

    per_tensor: give all input channels the same scale.
    """
    inputs = _best_inputs(weights, samples, per_tensor)
    quantised = _gptq(weights * inputs.scale, samples / inputs.scale) / inputs.scale
    return _with_bias_correction(inputs, quantised, weights, samples)


def quantise_table(weights: Floats, samples: Floats) -> QuantisedLayer:
    """The same for the embedding table, whose rows are also looked up: per tensor, and without GPTQ."""
    stored = Int8Weights.of(weights)
    inputs = _best_inputs(weights, samples, per_tensor=True)
    return _with_bias_correction(inputs, stored.weights * stored.scales[:, None], weights, samples)


def _with_bias_correction(
    inputs: InputQuantisation, quantised: Floats, weights: Floats, samples: Floats
) -> QuantisedLayer:
    correction = weights @ samples.mean(axis=0) - quantised @ inputs.fake_quantise(samples).mean(axis=0)
    return QuantisedLayer(inputs, quantised, correction)


def _best_inputs(weights: Floats, samples: Floats, per_tensor: bool) -> InputQuantisation:
    low, high = samples.min(axis=0), samples.max(axis=0)
    trial = samples[:: max(1, len(samples) // _TRIAL_ROWS)]
    settings = (
        [(0, clip) for clip in _PER_TENSOR_CLIPS]
        if per_tensor
        else [(outliers, clip) for outliers in _OUTLIERS for clip in _CLIPS]
    )
    possible = [_inputs(low, high, outliers, clip, per_tensor) for outliers, clip in settings]
    return min(
        possible, key=lambda inputs: np.square((inputs.fake_quantise(trial) - trial) @ weights.T).mean()
    )


def _inputs(low: Floats, high: Floats, outliers: int, clip: float, per_tensor: bool) -> InputQuantisation:
    """Bytes for channels from `low` to `high`, (width,), with a scale that ignores some outlier channels."""
    outliers = min(outliers, len(low) - 1)
    lowest = min(0.0, float(np.sort(low)[outliers])) * clip
    highest = max(0.0, float(np.sort(high)[-1 - outliers])) * clip
    scale = max(highest - lowest, 1e-6) / 255
    zero_point = round(-lowest / scale)
    multiples = np.ones(len(low))
    if not per_tensor:
        for extent, room in ((high, 255 - zero_point), (-low, zero_point)):
            multiples = np.maximum(multiples, extent * clip / (scale * max(room, 1)))
    multiples = 2.0 ** np.ceil(np.log2(multiples) - 1e-6)
    return InputQuantisation((scale * multiples).astype(np.float32), zero_point)


def _row_scales(rows: Floats) -> Floats:
    scales: Floats = np.maximum(np.abs(rows).max(axis=1) / 127, 1e-12).astype(np.float32)
    return scales


def _gptq(rows: Floats, inputs: Floats, block: int = 64) -> Floats:
    """Quantise (outputs, width) column by column; later columns compensate the error of each.

    The columns with the largest inputs come first, while many others can still compensate. The largest weight
    of a row keeps its value, so that the row's scale can be derived from the row.
    """
    width, scales = rows.shape[1], _row_scales(rows)
    largest = np.abs(rows).argmax(axis=1)
    hessian = (inputs.T @ inputs).astype(np.float64)
    order = np.argsort(-np.diag(hessian), kind="stable")
    hessian = hessian[np.ix_(order, order)]
    hessian[np.diag_indices(width)] += _DAMPING * np.trace(hessian) / width + 1e-12
    # The upper Cholesky factor of the inverse, without the inverse: H = R Rᵀ with R upper, H⁻¹ = R⁻ᵀ R⁻¹.
    upper = np.linalg.cholesky(hessian[::-1, ::-1])[::-1, ::-1]
    spread = _inverse_of_upper(upper).astype(np.float32)
    # Transposed, because the loop reads and writes whole columns.
    remaining = np.ascontiguousarray(rows.T[order])
    quantised = np.empty_like(rows)
    for first in range(0, width, block):
        last = min(first + block, width)
        part, errors = remaining[first:last], np.empty((last - first, len(rows)), np.float32)
        for column in range(last - first):
            place = first + column
            whole = np.clip(np.rint(part[column] / scales), -127, 127)
            fixed = largest == order[place]
            whole[fixed] = np.copysign(127, rows[fixed, order[place]])
            quantised[:, order[place]] = whole * scales
            errors[column] = (part[column] - whole * scales) / spread[place, place]
            part[column + 1 :] -= np.outer(spread[place, place + 1 : last], errors[column])
        remaining[last:] -= spread[first:last, last:].T @ errors
    return quantised


def _inverse_of_upper(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse of an upper triangular matrix, by recursive halving."""
    size = len(matrix)
    if size <= 128:
        return np.asarray(np.linalg.inv(matrix), np.float64)
    half = size // 2
    first, last = _inverse_of_upper(matrix[:half, :half]), _inverse_of_upper(matrix[half:, half:])
    inverse = np.zeros_like(matrix)
    inverse[:half, :half], inverse[half:, half:] = first, last
    inverse[:half, half:] = -first @ matrix[:half, half:] @ last
    return inverse
