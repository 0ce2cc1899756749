"""An exported model gives its weights back, so that a GPU needs no second file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nmspeller import InputError
from nmspeller.lab.export.activations import quantise_weights
from nmspeller.lab.export.export import export_model
from nmspeller.lab.export.onnx_weights import read_exported
from nmspeller.lab.export.weights import read_weights
from nmspeller.runtime.engine import OnnxEngine
from nmspeller.runtime.torch_engine import TorchEngine
from nmspeller.text.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def integer_folder(source_folder: Path, tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> Path:
    return export_model(source_folder, tmp_path_factory.mktemp("integer"), texts=texts)


def test_weights_are_those_of_the_source_but_for_rounding(source_folder: Path, integer_folder: Path) -> None:
    source, found = read_weights(source_folder), read_exported(integer_folder)
    assert replace(found.encoder, fake_quantised=False, norm_epsilon=0.0) == replace(
        source.encoder, dropout=0.1, attention_dropout=0.1, norm_epsilon=0.0
    )
    assert found.encoder.norm_epsilon == pytest.approx(source.encoder.norm_epsilon)
    rounding = {name for name in found.weights if name.endswith((".scale", ".zero_point"))}
    assert found.weights.keys() - rounding == source.weights.keys()
    for name, array in source.weights.items():
        largest = float(np.abs(array).max())
        assert np.abs(found.weights[name] - array).max() < max(0.1 * largest, 0.02), name


def test_an_integer_export_gives_back_what_it_was_made_of(
    source_folder: Path, texts: list[str], integer_folder: Path
) -> None:
    source, found = quantise_weights(read_weights(source_folder), texts), read_exported(integer_folder)
    assert found.weights.keys() == source.weights.keys()
    for name, array in source.weights.items():
        np.testing.assert_allclose(found.weights[name], array, rtol=1e-5, atol=1e-7, err_msg=name)


def test_a_float_export_gives_them_back_exactly(source_folder: Path, model_folder: Path) -> None:
    source, found = read_weights(source_folder), read_exported(model_folder)
    assert found.weights.keys() == source.weights.keys()
    for name, array in source.weights.items():
        assert (found.weights[name] == array).all(), name


def test_pytorch_says_what_the_integers_say(integer_folder: Path, texts: list[str]) -> None:
    folder = integer_folder
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    ids = vocabulary.encode(texts[0] + texts[1])
    starts = np.array([0, len(texts[0])])
    stops = np.array([len(texts[0]), len(ids)])
    kept = []
    for engine in (
        OnnxEngine(folder / "model.onnx", vocabulary, threads=1),
        TorchEngine(read_exported(folder), vocabulary, "cpu", threads=1),
    ):
        scores = list(engine.scores(ids, starts, stops))
        order = np.argsort(np.concatenate([part.positions for part in scores]))
        kept.append(np.concatenate([part.source_probabilities for part in scores])[order])
    assert np.abs(kept[0] - kept[1]).mean() < 1e-4


def test_a_damaged_file_is_refused(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes((model_folder / "model.onnx").read_bytes()[:1000])
    with pytest.raises(InputError, match="damaged"):
        read_exported(tmp_path)
