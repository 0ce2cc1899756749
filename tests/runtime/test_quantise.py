import numpy as np
import pytest

from nmspeller.runtime.quantise import Layer, quantise_layer, quantise_rows


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
        np.square(layer.inputs.rounded(samples) @ stored.T - expected).mean() / np.square(expected).mean()
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
    coarse, fine = (
        error(quantise_layer(weights, samples, fine=fine), weights, test) for fine in (False, True)
    )
    assert fine < coarse < 1e-3


def test_feedback_beats_plain_rounding(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, test = layer
    with_feedback = quantise_layer(weights, samples, fine=True)
    plain = Layer(with_feedback.inputs, *quantise_rows(weights * with_feedback.inputs.smoothing))
    assert error(with_feedback, weights, test) < 0.7 * error(plain, weights, test)


def test_smoothing_beats_none(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, test = layer
    chosen = quantise_layer(weights, samples, fine=False)
    assert chosen.inputs.smoothing.min() < 1
    step = np.float32(np.ptp(samples) / 255)
    from nmspeller.runtime.quantise import Inputs

    unsmoothed = Inputs(np.ones(96, np.float32), step, np.uint8(round(-samples.min() / step)), False)
    assert error(chosen, weights, test) < 0.5 * error(
        Layer(unsmoothed, *quantise_rows(weights)), weights, test
    )
