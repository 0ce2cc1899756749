"""Eight-bit integers for a dense layer, chosen so that its outputs on real text change least.

A layer's input is stored as u8 = round(x / smoothing / step) + zero and its weights, times the smoothing, as
one int8 row an output. The smoothing, a factor per input channel, moves range from channels that reach far
to the weights (SmoothQuant); how much of it is tried out. Where one byte is too coarse for the inputs, a
second byte holds what the first rounds away. The steps are fixed, so that the same text gets the same answer
alone and in any batch. The weights are rounded one column after the other, and each column's error is made
up for by the columns still to come (GPTQ).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_EXPONENTS = (0.0, 0.25, 0.4, 0.5, 0.6, 0.7)
_CLIPS = (1.0, 0.8)
# Rows that choose among the settings; all rows shape the rounding.
_TRIAL_ROWS = 512
FINE_STEPS = 254


@dataclass(frozen=True)
class Inputs:
    """How inputs become bytes: u8 = round(x / smoothing / step) + zero; `fine` adds the second byte."""

    smoothing: Floats  # (width,)
    step: np.float32
    zero: np.uint8
    fine: bool

    @property
    def divisor(self) -> Floats:
        """What an input is divided by before it is rounded: (width,)."""
        return self.smoothing * self.step

    def rounded(self, inputs: Floats) -> Floats:
        """What is left of the inputs, (rows, width), after rounding, still divided by the smoothing."""
        exact = inputs / self.smoothing / self.step
        low, high = -float(self.zero), 255.0 - float(self.zero)
        coarse = np.clip(np.rint(exact), low, high)
        if self.fine:
            coarse = coarse + np.clip(np.rint((exact - coarse) * FINE_STEPS), -128, 127) / FINE_STEPS
        return (coarse * self.step).astype(np.float32)


@dataclass(frozen=True)
class Layer:
    """A dense layer in integers: `weights` (outputs, width) int8 with one of `scales` (outputs,) a row."""

    inputs: Inputs
    weights: NDArray[np.int8]
    scales: Floats


def quantise_rows(rows: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Round each row to int8 with a scale of its own: (rows, width) -> the same, (rows,)."""
    scales = _scales(rows)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def quantise_layer(weights: Floats, samples: Floats, *, fine: bool) -> Layer:
    """The integer layer that is closest to `weights` (outputs, width) on `samples` (rows, width).

    With `fine`, the inputs have their second byte.
    """
    inputs = _best_inputs(weights, samples, fine=fine)
    smoothed = weights * inputs.smoothing
    scales = _scales(smoothed)
    return Layer(inputs, _round_with_feedback(smoothed, scales, samples / inputs.smoothing), scales)


def quantise_inputs(samples: Floats) -> Inputs:
    """Bytes for the inputs of a layer whose weights are already integers: no smoothing, but a second byte."""
    return _inputs(np.ones(samples.shape[1], np.float32), samples.min(axis=0), samples.max(axis=0), fine=True)


def _best_inputs(weights: Floats, samples: Floats, *, fine: bool) -> Inputs:
    trial = samples[:: max(1, len(samples) // _TRIAL_ROWS)]
    expected = trial @ weights.T
    low, high = samples.min(axis=0), samples.max(axis=0)
    reach, weight = np.maximum(np.maximum(-low, high), 1e-5), np.maximum(np.abs(weights).max(axis=0), 1e-5)
    found: list[tuple[float, Inputs]] = []
    for exponent in _EXPONENTS:
        smoothing = (reach**exponent / weight ** (1 - exponent)).astype(np.float32)
        smoothing = smoothing / smoothing.max() if exponent else np.ones_like(reach)
        rows, scales = quantise_rows(weights * smoothing)
        stored = rows.astype(np.float32) * scales[:, None]
        for clip in (1.0,) if fine else _CLIPS:
            inputs = _inputs(smoothing, low * clip, high * clip, fine=fine)
            found.append((float(np.square(inputs.rounded(trial) @ stored.T - expected).mean()), inputs))
    return min(found, key=lambda pair: pair[0])[1]


def _inputs(smoothing: Floats, low: Floats, high: Floats, *, fine: bool) -> Inputs:
    lowest, highest = min(0.0, float((low / smoothing).min())), max(0.0, float((high / smoothing).max()))
    # Two bytes have range to spare for texts that reach further than the samples.
    spare = 2.0 if fine else 1.0
    step = np.float32(max(highest - lowest, 1e-6) * spare / 255)
    return Inputs(smoothing, step, np.uint8(round(-lowest * spare / step)), fine)


def _scales(rows: Floats) -> Floats:
    scales: Floats = np.maximum(np.abs(rows).max(axis=1) / 127, 1e-12).astype(np.float32)
    return scales


def _round_with_feedback(
    weights: Floats, scales: Floats, inputs: Floats, block: int = 128
) -> NDArray[np.int8]:
    """Round (outputs, width) column by column, the error of each spread over the columns behind it."""
    width = weights.shape[1]
    hessian = (inputs.T @ inputs).astype(np.float64)
    hessian[np.diag_indices(width)] += 0.01 * np.trace(hessian) / width + 1e-12
    # The upper Cholesky factor of the inverse, without the inverse: H = R Rᵀ with R upper, H⁻¹ = R⁻ᵀ R⁻¹.
    upper = np.linalg.cholesky(hessian[::-1, ::-1])[::-1, ::-1]
    spread = _inverse_of_upper(upper).astype(np.float32)
    left = weights.copy()
    rounded = np.empty(weights.shape, np.int8)
    for first in range(0, width, block):
        last = min(first + block, width)
        part, errors = left[:, first:last].copy(), np.empty((len(weights), last - first), np.float32)
        for column in range(last - first):
            place = first + column
            whole = np.clip(np.rint(part[:, column] / scales), -127, 127)
            rounded[:, place] = whole
            errors[:, column] = (part[:, column] - whole * scales) / spread[place, place]
            part[:, column:] -= np.outer(errors[:, column], spread[place, place:last])
        left[:, last:] -= errors @ spread[first:last, last:]
    return rounded


def _inverse_of_upper(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse of an upper triangular matrix, half by half."""
    size = len(matrix)
    if size <= 128:
        return np.asarray(np.linalg.inv(matrix), np.float64)
    half = size // 2
    first, last = _inverse_of_upper(matrix[:half, :half]), _inverse_of_upper(matrix[half:, half:])
    inverse = np.zeros_like(matrix)
    inverse[:half, :half], inverse[half:, half:] = first, last
    inverse[:half, half:] = -first @ matrix[:half, half:] @ last
    return inverse
