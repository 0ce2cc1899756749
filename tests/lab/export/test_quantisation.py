import numpy as np
import pytest

from nmspeller.lab.export.quantisation import Inputs, Integers, Rounded, quantise_layer, quantise_table


@pytest.fixture(scope="module")
def layer() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, samples to fit and samples to test; one input channel reaches far, as in real models."""
    random = np.random.default_rng(0)
    weights = random.standard_normal((48, 96)).astype(np.float32)
    mixing = random.standard_normal((96, 96)).astype(np.float32)
    reach = np.where(np.arange(96) == 5, 30.0, 1.0).astype(np.float32)
    weights[:, 5] /= 30
    samples = (random.standard_normal((1200, 96)).astype(np.float32) @ mixing) / 10 * reach
    return weights, samples[:800], samples[800:]


def error(layer: Rounded, weights: np.ndarray, samples: np.ndarray) -> float:
    """Relative squared error of the rounded layer's outputs."""
    expected = samples @ weights.T
    found = layer.inputs.rounded(samples) @ layer.weights.T + layer.amends
    return float(np.square(found - expected).mean() / np.square(expected).mean())


def test_rows_are_rounded_to_half_a_step() -> None:
    rows = np.random.default_rng(0).standard_normal((7, 33)).astype(np.float32)
    stored = Integers.of(rows)
    assert stored.weights.dtype == np.int8
    assert (np.abs(stored.weights * stored.scales[:, None] - rows) <= stored.scales[:, None] * 0.5001).all()


def test_a_row_of_zeros() -> None:
    stored = Integers.of(np.zeros((2, 4), np.float32))
    assert not stored.weights.any()
    assert np.isfinite(stored.scales).all()


def test_inputs_are_held_to_a_byte_and_rounded_to_half_a_step() -> None:
    inputs = Inputs(np.array([0.5, 2.0], np.float32), 100)
    values = np.arange(-300.0, 400.0, 0.3, dtype=np.float32)
    rounded = inputs.rounded(np.stack((values, values), axis=1))
    for channel, step in enumerate(inputs.steps):
        low, high = -100 * step, 155 * step
        inside = (values >= low) & (values <= high)
        assert (np.abs(rounded[:, channel] - values)[inside] <= step / 2 + 1e-4).all()
        assert (rounded[values < low, channel] == low).all()
        assert (rounded[values > high, channel] == high).all()


def test_feedback_beats_plain_rounding(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, test = layer
    fed = quantise_layer(weights, samples)
    stored = Integers.of(weights, fed.inputs)
    plain = stored.weights * stored.scales[:, None] / fed.inputs.steps
    # The inputs' own rounding is the same on both sides, so the weights alone are judged.
    exact = test @ weights.T
    fed_error, plain_error = (np.square(test @ each.T - exact).mean() for each in (fed.weights, plain))
    assert fed_error < 0.8 * plain_error


def test_a_far_channel_has_a_step_of_its_own(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, test = layer
    chosen, even = quantise_layer(weights, samples), quantise_layer(weights, samples, even=True)
    reach = chosen.inputs.reach
    assert reach is not None
    assert reach.argmax() == 5
    assert set(np.log2(reach) % 1) == {0.0}
    assert even.inputs.reach is None
    assert error(chosen, weights, test) < 0.2 * error(even, weights, test)


def test_rounding_again_changes_nothing(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, _ = layer
    once = quantise_layer(weights, samples)
    stored = Integers.of(once.weights, once.inputs)
    again = stored.weights * stored.scales[:, None] / once.inputs.steps
    np.testing.assert_allclose(again, once.weights, rtol=1e-5)
    assert (np.abs(stored.weights).max(axis=1) == 127).all()


def test_what_rounding_adds_on_average_is_amended(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, _ = layer
    chosen = quantise_table(weights, samples + 3)
    outputs = chosen.inputs.rounded(samples + 3) @ chosen.weights.T + chosen.amends
    np.testing.assert_allclose(outputs.mean(axis=0), ((samples + 3) @ weights.T).mean(axis=0), atol=2e-3)
