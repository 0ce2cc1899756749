"""A fake-quantised model comes out of its parts exactly as its export would hold it, others nearly so."""

from pathlib import Path

import numpy as np

import packing
from nmspeller.lab.export.conversion import prepare_qat
from nmspeller.lab.export.quantisation import InputQuantisation, Int8Weights
from nmspeller.lab.export.weights import read_weights


def test_parts_keep_every_integer(source_folder: Path, tmp_path: Path, texts: list[str]) -> None:
    weights = read_weights(prepare_qat(source_folder, tmp_path / "quantised", texts)).weights
    parts = packing.pack(weights, tmp_path / "parts", "model", parts=3)
    again = packing.unpack(parts)
    assert len(parts) == 3
    assert again.keys() == weights.keys()
    for name, array in weights.items():
        scale = f"{name.removesuffix('.weight')}.scale"
        if scale in weights:
            inputs = InputQuantisation(weights[scale], 0)
            one, other = (Int8Weights.of(each, inputs) for each in (array, again[name]))
            assert (one.weights == other.weights).all()
            assert np.allclose(one.scales, other.scales, rtol=1e-6)
        else:
            assert np.allclose(array, again[name], rtol=1e-6)


def test_parts_halve_the_matrices_of_a_model_in_floats(source_folder: Path, tmp_path: Path) -> None:
    weights = read_weights(source_folder).weights
    again = packing.unpack(packing.pack(weights, tmp_path / "parts", "model", parts=3))
    assert again.keys() == weights.keys()
    for name, array in weights.items():
        assert again[name].dtype == np.float32
        if array.ndim == 2:
            assert np.allclose(array, again[name], rtol=2**-11, atol=2**-24)
        else:
            assert (array == again[name]).all()
