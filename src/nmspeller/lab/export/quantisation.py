"""Eight-bit integers for a dense layer, chosen so that its outputs on real text change least.

A layer's input is stored as u8 = round(x / step) + zero, held to 0..255, and its weights as one int8 row an
output. A few input channels reach ten times as far as all others; a step that covers them would be too coarse
for the rest. So the step is made for the rest, and such a channel has a step that is larger by a power of
two, for which its weights make up. The steps are fixed, so that the same text gets the same answer alone and
in any batch. The weights are rounded one column after the other, and each column's error is made up for by
the columns still to come (GPTQ).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

# How many of the furthest channels, at either end, the step is not made for, and how much of the remaining
# range it is made for; what serves best is tried out.
_FURTHEST = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24)
_CLIPS = (1.0, 0.85, 0.7)
# Where all channels have the same step, as much of the range may have to be given up.
_EVEN_CLIPS = (*_CLIPS, 0.5, 0.35, 0.25, 0.18)
# Rows that choose among the settings; all rows shape the rounding.
_TRIAL_ROWS = 512
# Keeps the rounding from being fitted to the samples: a share of the inputs' mean square.
_DAMPING = 0.1


@dataclass(frozen=True)
class Inputs:
    """How inputs become bytes: u8 = round(x / steps) + zero."""

    steps: Floats  # (width,)
    zero: int

    @property
    def reach(self) -> Floats | None:
        """How many times the smallest step each channel's is, (width,); None where all are the same."""
        reach: Floats = self.steps / self.steps.min()
        even = bool((reach == 1).all())
        return None if even else reach

    def rounded(self, inputs: Floats) -> Floats:
        """What is left of the inputs, (rows, width), after rounding."""
        whole = np.clip(np.rint(inputs / self.steps), -self.zero, 255 - self.zero)
        rounded: Floats = (whole * self.steps).astype(np.float32)
        return rounded


@dataclass(frozen=True)
class Integers:
    """A dense layer in integers: `weights` (outputs, width) int8, and the size of one, `scales` (outputs,).

    An output is the sum of weights * (bytes - zero), times its scale.
    """

    weights: NDArray[np.int8]
    scales: Floats

    @classmethod
    def of(cls, weights: Floats, inputs: Inputs | None = None) -> "Integers":
        """The integers of a layer with these inputs; of rows that are looked up, without."""
        rows = weights if inputs is None else weights * inputs.steps
        scales = _scales(rows)
        return cls(np.rint(rows / scales[:, None]).astype(np.int8), scales)


@dataclass(frozen=True)
class Rounded:
    """A dense layer, still in floats, whose `weights` (outputs, width) are what their integers stand for.

    `amends` (outputs,) belongs to the bias: it takes away what rounding adds on average.
    """

    inputs: Inputs
    weights: Floats
    amends: Floats


def quantise_layer(weights: Floats, samples: Floats, *, even: bool = False) -> Rounded:
    """The rounded layer that is closest to `weights` (outputs, width) on `samples` (rows, width).

    even: give all channels the same step.
    """
    inputs = _best_inputs(weights, samples, even)
    rounded = _round_with_feedback(weights * inputs.steps, samples / inputs.steps) / inputs.steps
    return _amended(inputs, rounded, weights, samples)


def quantise_table(weights: Floats, samples: Floats) -> Rounded:
    """The same, even, with every weight rounded for itself: rows that are looked up one by one as well."""
    rounded = Integers.of(weights)
    inputs = _best_inputs(weights, samples, even=True)
    return _amended(inputs, rounded.weights * rounded.scales[:, None], weights, samples)


def _amended(inputs: Inputs, rounded: Floats, weights: Floats, samples: Floats) -> Rounded:
    amends = weights @ samples.mean(axis=0) - rounded @ inputs.rounded(samples).mean(axis=0)
    return Rounded(inputs, rounded, amends)


def _best_inputs(weights: Floats, samples: Floats, even: bool) -> Inputs:
    low, high = samples.min(axis=0), samples.max(axis=0)
    trial = samples[:: max(1, len(samples) // _TRIAL_ROWS)]
    settings = [(0, clip) for clip in _EVEN_CLIPS] if even else [(n, c) for n in _FURTHEST for c in _CLIPS]
    possible = [_inputs(low, high, furthest, clip, even) for furthest, clip in settings]
    return min(possible, key=lambda inputs: np.square((inputs.rounded(trial) - trial) @ weights.T).mean())


def _inputs(low: Floats, high: Floats, furthest: int, clip: float, even: bool) -> Inputs:
    """Bytes for channels from `low` to `high`, (width,), their step not made for the `furthest`."""
    furthest = min(furthest, len(low) - 1)
    lowest = min(0.0, float(np.sort(low)[furthest])) * clip
    highest = max(0.0, float(np.sort(high)[-1 - furthest])) * clip
    step = max(highest - lowest, 1e-6) / 255
    zero = round(-lowest / step)
    times = np.ones(len(low))
    if not even:
        for reach, room in ((high, 255 - zero), (-low, zero)):
            times = np.maximum(times, reach * clip / (step * max(room, 1)))
    times = 2.0 ** np.ceil(np.log2(times) - 1e-6)
    return Inputs((step * times).astype(np.float32), zero)


def _scales(rows: Floats) -> Floats:
    scales: Floats = np.maximum(np.abs(rows).max(axis=1) / 127, 1e-12).astype(np.float32)
    return scales


def _round_with_feedback(rows: Floats, inputs: Floats, block: int = 64) -> Floats:
    """Round (outputs, width) column by column, the error of each spread over the columns behind it.

    The columns with the largest inputs come first, as long as many others can make up for their error. The
    largest weight of a row stays where it is, so that the row's scale can be told from the row.
    """
    width, scales = rows.shape[1], _scales(rows)
    largest = np.abs(rows).argmax(axis=1)
    hessian = (inputs.T @ inputs).astype(np.float64)
    order = np.argsort(-np.diag(hessian), kind="stable")
    hessian = hessian[np.ix_(order, order)]
    hessian[np.diag_indices(width)] += _DAMPING * np.trace(hessian) / width + 1e-12
    # The upper Cholesky factor of the inverse, without the inverse: H = R Rᵀ with R upper, H⁻¹ = R⁻ᵀ R⁻¹.
    upper = np.linalg.cholesky(hessian[::-1, ::-1])[::-1, ::-1]
    spread = _inverse_of_upper(upper).astype(np.float32)
    # One column is one row here: that is how the loop reads and writes them.
    left = np.ascontiguousarray(rows.T[order])
    rounded = np.empty_like(rows)
    for first in range(0, width, block):
        last = min(first + block, width)
        part, errors = left[first:last], np.empty((last - first, len(rows)), np.float32)
        for column in range(last - first):
            place = first + column
            whole = np.clip(np.rint(part[column] / scales), -127, 127)
            stays = largest == order[place]
            whole[stays] = np.copysign(127, rows[stays, order[place]])
            rounded[:, order[place]] = whole * scales
            errors[column] = (part[column] - whole * scales) / spread[place, place]
            part[column + 1 :] -= np.outer(spread[place, place + 1 : last], errors[column])
        left[last:] -= spread[first:last, last:].T @ errors
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
