import numpy as np
import pytest

from nmspeller.runtime.quantise import (
    Inputs,
    Layer,
    quantise_layer,
    quantise_rows,
    quantise_table,
    with_second_byte,
)


@pytest.fixture(scope="module")
def layer() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, samples to fit and samples to test; one input channel reaches far, as in real models."""
    random = np.random.default_rng(0)
    weights = random.standard_normal((48, 96)).astype(np.float32)
    mixing = random.standard_normal((96, 96)).astype(np.float32)
    reach = np.where(np.arange(96) == 5, 30.0, 1.0).astype(np.float32)
    samples = (random.standard_normal((1200, 96)).astype(np.float32) @ mixing) / 10 * reach
    return weights, samples[:800], samples[800:]


def error(layer: Layer, weights: np.ndarray, samples: np.ndarray) -> float:
    """Relative squared error of the integer layer's outputs."""
    expected = samples @ weights.T
    stored = layer.weights.astype(np.float32) * layer.scales[:, None]
    return float(
        np.square(layer.inputs.rounded(samples) @ stored.T + layer.amends - expected).mean()
        / np.square(expected).mean()
    )


def test_rows_are_rounded_to_half_a_step() -> None:
    rows = np.random.default_rng(0).standard_normal((7, 33)).astype(np.float32)
    stored, scales = quantise_rows(rows)
    assert stored.dtype == np.int8
    assert (np.abs(stored * scales[:, None] - rows) <= scales[:, None] * 0.5001).all()


def test_a_row_of_zeros() -> None:
    stored, scales = quantise_rows(np.zeros((2, 4), np.float32))
    assert not stored.any()
    assert np.isfinite(scales).all()


def test_a_second_byte_is_finer(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, test = layer
    coarse = quantise_layer(weights, samples)
    fine = with_second_byte(coarse, weights, samples)
    assert (fine.weights == coarse.weights).all()
    assert error(fine, weights, test) < error(coarse, weights, test) < 1e-3


def test_feedback_beats_plain_rounding(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, test = layer
    with_feedback = with_second_byte(quantise_layer(weights, samples), weights, samples)
    plain = Layer(with_feedback.inputs, *quantise_rows(weights), with_feedback.amends)
    assert error(with_feedback, weights, test) < 0.7 * error(plain, weights, test)


def test_far_bytes_beat_one_step_for_all(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, test = layer
    chosen = quantise_layer(weights, samples)
    assert set(chosen.inputs.far.tolist()) >= {5}
    step = np.float32(np.ptp(samples) / 255)
    none = np.zeros(0, np.int64)
    wide = Inputs(step, np.uint8(round(-samples.min() / step)), none, none)
    rounded = Layer(wide, chosen.weights, chosen.scales, chosen.amends)
    assert error(chosen, weights, test) < 0.2 * error(rounded, weights, test)


def test_a_far_channel_is_rounded_to_half_a_step_wherever_it_is() -> None:
    inputs = Inputs(np.float32(0.5), np.uint8(100), np.array([1, 1, 1]), np.array([1, 2, -1]))
    reach = np.arange(-170.0, 330.0, 0.3, dtype=np.float32)
    near = np.full_like(reach, 1.2)
    rounded = inputs.rounded(np.stack((near, reach), axis=1))
    assert (np.abs(rounded[:, 1] - reach) <= 0.2501).all()
    assert (rounded[:, 0] == 1.0).all()


def test_what_rounding_adds_on_average_is_amended(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, _ = layer
    chosen = quantise_table(weights, samples + 3)
    stored = chosen.weights.astype(np.float32) * chosen.scales[:, None]
    outputs = chosen.inputs.rounded(samples + 3) @ stored.T + chosen.amends
    np.testing.assert_allclose(outputs.mean(axis=0), ((samples + 3) @ weights.T).mean(axis=0), atol=2e-3)
