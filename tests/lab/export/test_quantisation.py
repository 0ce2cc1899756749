import numpy as np
import pytest

from nmspeller.lab.export.quantisation import (
    InputQuantisation,
    Int8Weights,
    QuantisedLayer,
    quantise_layer,
    quantise_table,
)


@pytest.fixture(scope="module")
def layer() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, samples to fit and samples to test; one input channel is an outlier, as in real models."""
    random = np.random.default_rng(0)
    weights = random.standard_normal((48, 96)).astype(np.float32)
    mixing = random.standard_normal((96, 96)).astype(np.float32)
    reach = np.where(np.arange(96) == 5, 30.0, 1.0).astype(np.float32)
    weights[:, 5] /= 30
    samples = (random.standard_normal((1200, 96)).astype(np.float32) @ mixing) / 10 * reach
    return weights, samples[:800], samples[800:]


def error(layer: QuantisedLayer, weights: np.ndarray, samples: np.ndarray) -> float:
    """Relative squared error of the quantised layer's outputs."""
    expected = samples @ weights.T
    found = layer.inputs.fake_quantise(samples) @ layer.weights.T + layer.bias_correction
    return float(np.square(found - expected).mean() / np.square(expected).mean())


def test_the_error_of_a_row_is_at_most_half_its_scale() -> None:
    rows = np.random.default_rng(0).standard_normal((7, 33)).astype(np.float32)
    stored = Int8Weights.of(rows)
    assert stored.weights.dtype == np.int8
    assert (np.abs(stored.weights * stored.scales[:, None] - rows) <= stored.scales[:, None] * 0.5001).all()


def test_a_row_of_zeros_is_quantised() -> None:
    stored = Int8Weights.of(np.zeros((2, 4), np.float32))
    assert not stored.weights.any()
    assert np.isfinite(stored.scales).all()


def test_inputs_are_clipped_to_a_byte_and_rounded() -> None:
    inputs = InputQuantisation(np.array([0.5, 2.0], np.float32), 100)
    values = np.arange(-300.0, 400.0, 0.3, dtype=np.float32)
    rounded = inputs.fake_quantise(np.stack((values, values), axis=1))
    for channel, scale in enumerate(inputs.scale):
        low, high = -100 * scale, 155 * scale
        inside = (values >= low) & (values <= high)
        assert (np.abs(rounded[:, channel] - values)[inside] <= scale / 2 + 1e-4).all()
        assert (rounded[values < low, channel] == low).all()
        assert (rounded[values > high, channel] == high).all()


def test_gptq_is_better_than_plain_rounding(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, test = layer
    fed = quantise_layer(weights, samples)
    stored = Int8Weights.of(weights, fed.inputs)
    plain = stored.weights * stored.scales[:, None] / fed.inputs.scale
    # The inputs are quantised the same way on both sides, so only the weights are compared.
    exact = test @ weights.T
    fed_error, plain_error = (np.square(test @ each.T - exact).mean() for each in (fed.weights, plain))
    assert fed_error < 0.8 * plain_error


def test_an_outlier_channel_has_its_own_scale(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, test = layer
    chosen, per_tensor = quantise_layer(weights, samples), quantise_layer(weights, samples, per_tensor=True)
    channel_scale = chosen.inputs.channel_scale
    assert channel_scale is not None
    assert channel_scale.argmax() == 5
    assert set(np.log2(channel_scale) % 1) == {0.0}
    assert per_tensor.inputs.channel_scale is None
    assert error(chosen, weights, test) < 0.2 * error(per_tensor, weights, test)


def test_quantising_again_changes_nothing(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, _ = layer
    once = quantise_layer(weights, samples)
    stored = Int8Weights.of(once.weights, once.inputs)
    again = stored.weights * stored.scales[:, None] / once.inputs.scale
    np.testing.assert_allclose(again, once.weights, rtol=1e-5)
    assert (np.abs(stored.weights).max(axis=1) == 127).all()


def test_the_bias_correction_removes_the_mean_error(layer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, samples, _ = layer
    chosen = quantise_table(weights, samples + 3)
    outputs = chosen.inputs.fake_quantise(samples + 3) @ chosen.weights.T + chosen.bias_correction
    np.testing.assert_allclose(outputs.mean(axis=0), ((samples + 3) @ weights.T).mean(axis=0), atol=2e-3)
