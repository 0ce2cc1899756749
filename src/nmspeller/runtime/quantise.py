"""Eight-bit integers for a dense layer, chosen so that its outputs on real text change least.

A layer's input is stored as u8 = round(x / step) + zero, held to 0..255, and its weights as one int8 row an
output. A few input channels reach ten times as far as all others; a step that covers them would be too coarse
for the rest. So the step is made for the rest, and a channel that reaches further goes on in bytes of its
own: the first ends at 255 steps, the next takes over from there (as the glass of a thermometer, cut into
pieces), all with the same weights. Where a decision is close, the text is read again with two bytes a
channel, the second of which holds what the first rounds away. The steps are fixed, so that the same text
gets the same answer alone and in any batch. The weights are rounded one column after the other, and each
column's error is made up for by the columns still to come (GPTQ).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

# How many of the furthest channels, at either end, the step is not made for, and how much of the remaining
# range it is made for; what serves best is tried out.
_FURTHEST = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24)
_CLIPS = (1.0, 0.85, 0.7)
# The bytes that far channels may have in all: they are gathered one by one, which takes time.
_FAR_BYTES = 32
# How much further than in the samples a far channel may reach.
_SPARE = 1.5
# Rows that choose among the settings; all rows shape the rounding.
_TRIAL_ROWS = 512
# Keeps the rounding from being fitted to the samples: a share of the inputs' mean square.
_DAMPING = 0.1
FINE_STEPS = 254


@dataclass(frozen=True)
class Inputs:
    """How inputs become bytes: u8 = round(x / step) + zero; see above for `far` channels and `fine` bytes."""

    step: np.float32
    zero: np.uint8
    far: NDArray[np.int64]  # (far bytes,) the channels that go on
    shifts: NDArray[np.int64]  # (far bytes,) how many times 255 steps from zero each byte's range lies
    fine: bool = False

    @property
    def offsets(self) -> Floats:
        """What is taken from a far channel before it becomes a byte: (far bytes,)."""
        offsets: Floats = (self.shifts * 255 * np.float64(self.step)).astype(np.float32)
        return offsets

    @property
    def idle(self) -> Floats:
        """What a far byte counts for, in steps, while its channel is elsewhere: (far bytes,)."""
        idle: Floats = np.where(self.shifts > 0, 0, 255).astype(np.float32) - np.float32(self.zero)
        return idle

    def widen(self, columns: NDArray[np.int8]) -> NDArray[np.int8]:
        """The far bytes' weights behind all others: (outputs, width) -> (outputs, width + far bytes)."""
        return np.concatenate((columns, columns[:, self.far]), axis=1)

    def rounded(self, inputs: Floats) -> Floats:
        """What is left of the inputs, (rows, width), after rounding."""
        exact: Floats = (inputs / self.step).astype(np.float32)
        whole = self._held(exact)
        if self.fine:
            whole += np.clip(np.rint((exact - whole) * FINE_STEPS), -128, 127) / FINE_STEPS
        for channel, shift, idle in zip(self.far, self.shifts, self.idle, strict=True):
            whole[:, channel] += self._held(exact[:, channel] - np.float32(255 * shift)) - idle
        return (whole * self.step).astype(np.float32)

    def _held(self, exact: Floats) -> Floats:
        """Whole steps within a byte's range."""
        held: Floats = np.clip(np.rint(exact), -np.float32(self.zero), 255 - np.float32(self.zero))
        return held


@dataclass(frozen=True)
class Layer:
    """A dense layer in integers: `weights` (outputs, width) int8 with one of `scales` (outputs,) a row.

    `amends` (outputs,) belongs to the bias: it takes away what rounding adds on average.
    """

    inputs: Inputs
    weights: NDArray[np.int8]
    scales: Floats
    amends: Floats


def quantise_rows(rows: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Round each row to int8 with a scale of its own: (rows, width) -> the same, (rows,)."""
    scales = _scales(rows)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def quantise_layer(weights: Floats, samples: Floats) -> Layer:
    """The integer layer that is closest to `weights` (outputs, width) on `samples` (rows, width)."""
    inputs, scales = _best_inputs(weights, samples), _scales(weights)
    return _amended(inputs, _round_with_feedback(weights, scales, samples), scales, weights, samples)


def quantise_table(weights: Floats, samples: Floats) -> Layer:
    """The same with every weight rounded for itself: rows that are looked up one by one as well."""
    return _amended(_best_inputs(weights, samples), *quantise_rows(weights), weights, samples)


def with_second_byte(layer: Layer, weights: Floats, samples: Floats) -> Layer:
    """The layer, whose `weights` were these before they were rounded, for inputs of two bytes."""
    # Two bytes have range to spare for texts that reach further than the samples.
    inputs = _plain_inputs(2 * min(0.0, float(samples.min())), 2 * max(0.0, float(samples.max())), fine=True)
    return _amended(inputs, layer.weights, layer.scales, weights, samples)


def _amended(
    inputs: Inputs, rounded: NDArray[np.int8], scales: Floats, weights: Floats, samples: Floats
) -> Layer:
    mean, rounded_mean = samples.mean(axis=0), inputs.rounded(samples).mean(axis=0)
    amends = weights @ mean - (rounded.astype(np.float32) @ rounded_mean) * scales
    return Layer(inputs, rounded, scales, amends)


def _best_inputs(weights: Floats, samples: Floats) -> Inputs:
    low, high = samples.min(axis=0), samples.max(axis=0)
    trial = samples[:: max(1, len(samples) // _TRIAL_ROWS)]
    settings = (_inputs(low, high, furthest, clip) for furthest in _FURTHEST for clip in _CLIPS)
    possible = [inputs for inputs in settings if inputs is not None]
    return min(possible, key=lambda inputs: np.square((inputs.rounded(trial) - trial) @ weights.T).mean())


def _inputs(low: Floats, high: Floats, furthest: int, clip: float) -> Inputs | None:
    """Bytes for channels that reach from `low` to `high`, (width,), their step not made for the `furthest`.

    None where the far channels would need too many bytes.
    """
    furthest = min(furthest, len(low) - 1)
    lowest = min(0.0, float(np.sort(low)[furthest]))
    highest = max(0.0, float(np.sort(high)[-1 - furthest]))
    plain = _plain_inputs(lowest * clip, highest * clip)
    channels: list[NDArray[np.intp]] = []
    shifts: list[int] = []
    zero = int(plain.zero)
    for sign, reach, near, room in ((1, high, highest, 255 - zero), (-1, -low, -lowest, zero)):
        far = np.flatnonzero(reach > near)
        pieces = np.ceil((_SPARE * reach[far] / plain.step - room) / 255).astype(np.int64)
        if pieces.sum() > _FAR_BYTES:
            return None
        channels.append(np.repeat(far, pieces))
        shifts += [sign * piece for count in pieces.tolist() for piece in range(1, count + 1)]
    if len(shifts) > _FAR_BYTES:
        return None
    return replace(plain, far=np.concatenate(channels), shifts=np.array(shifts, np.int64))


def _plain_inputs(lowest: float, highest: float, *, fine: bool = False) -> Inputs:
    """Bytes from `lowest`, at most 0, to `highest`, at least 0, and none for far channels."""
    step, none = np.float32(max(highest - lowest, 1e-6) / 255), np.zeros(0, np.int64)
    return Inputs(step, np.uint8(round(-lowest / float(step))), none, none, fine)


def _scales(rows: Floats) -> Floats:
    scales: Floats = np.maximum(np.abs(rows).max(axis=1) / 127, 1e-12).astype(np.float32)
    return scales


def _round_with_feedback(
    weights: Floats, scales: Floats, inputs: Floats, block: int = 64
) -> NDArray[np.int8]:
    """Round (outputs, width) column by column, the error of each spread over the columns behind it.

    The columns with the largest inputs come first, as long as many others can make up for their error.
    """
    width = weights.shape[1]
    hessian = (inputs.T @ inputs).astype(np.float64)
    order = np.argsort(-np.diag(hessian), kind="stable")
    hessian = hessian[np.ix_(order, order)]
    hessian[np.diag_indices(width)] += _DAMPING * np.trace(hessian) / width + 1e-12
    # The upper Cholesky factor of the inverse, without the inverse: H = R Rᵀ with R upper, H⁻¹ = R⁻ᵀ R⁻¹.
    upper = np.linalg.cholesky(hessian[::-1, ::-1])[::-1, ::-1]
    spread = _inverse_of_upper(upper).astype(np.float32)
    # One column is one row here: that is how the loop reads and writes them.
    left = np.ascontiguousarray(weights.T[order])
    rounded = np.empty(weights.shape, np.int8)
    for first in range(0, width, block):
        last = min(first + block, width)
        part, errors = left[first:last], np.empty((last - first, len(weights)), np.float32)
        for column in range(last - first):
            place = first + column
            whole = np.clip(np.rint(part[column] / scales), -127, 127)
            rounded[:, order[place]] = whole
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
