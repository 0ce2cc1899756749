"""The weights of an exported model can be read back, so that a GPU needs no second file."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from tests.exact_products import needs_exact_products

from nmspeller import InputError
from nmspeller.lab.export.activations import quantise_weights
from nmspeller.lab.export.export import export_model
from nmspeller.lab.export.onnx_weights import read_exported
from nmspeller.lab.export.weights import read_weights
from nmspeller.runtime.engine import OnnxEngine
from nmspeller.runtime.native import library
from nmspeller.runtime.native.engine import NativeEngine
from nmspeller.runtime.torch_engine import TorchEngine
from nmspeller.text.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def integer_folder(source_folder: Path, tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> Path:
    return export_model(source_folder, tmp_path_factory.mktemp("integer"), texts=texts)


def test_weights_are_the_exported_ones_up_to_quantisation(source_folder: Path, integer_folder: Path) -> None:
    source, found = read_weights(source_folder), read_exported(integer_folder)
    assert replace(found.encoder, fake_quantised=False, norm_epsilon=0.0) == replace(
        source.encoder, dropout=0.1, attention_dropout=0.1, norm_epsilon=0.0
    )
    assert found.encoder.norm_epsilon == pytest.approx(source.encoder.norm_epsilon)
    quantisation = {name for name in found.weights if name.endswith((".scale", ".zero_point"))}
    assert found.weights.keys() - quantisation == source.weights.keys()
    for name, array in source.weights.items():
        largest = float(np.abs(array).max())
        assert np.abs(found.weights[name] - array).max() < max(0.1 * largest, 0.02), name


def test_an_int8_export_gives_back_the_fake_quantised_weights(
    source_folder: Path, texts: list[str], integer_folder: Path
) -> None:
    source, found = quantise_weights(read_weights(source_folder), texts), read_exported(integer_folder)
    assert found.weights.keys() == source.weights.keys()
    for name, array in source.weights.items():
        np.testing.assert_allclose(found.weights[name], array, rtol=1e-5, atol=1e-7, err_msg=name)


def test_a_float_export_gives_back_the_exact_weights(source_folder: Path, model_folder: Path) -> None:
    source, found = read_weights(source_folder), read_exported(model_folder)
    assert found.weights.keys() == source.weights.keys()
    for name, array in source.weights.items():
        assert (found.weights[name] == array).all(), name


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(OnnxEngine, marks=needs_exact_products),
        pytest.param(
            NativeEngine,
            marks=pytest.mark.skipif(
                not library.instruction_sets(),
                reason="the native engine is not compiled, or not for this processor",
            ),
        ),
    ],
)
def test_pytorch_predicts_what_the_int8_model_predicts(
    integer_folder: Path, texts: list[str], kind: type[OnnxEngine | NativeEngine]
) -> None:
    folder = integer_folder
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    ids = vocabulary.encode(texts[0] + texts[1])
    starts = np.array([0, len(texts[0])])
    stops = np.array([len(texts[0]), len(ids)])
    probabilities = []
    for engine in (
        kind(folder / "model.onnx", vocabulary, threads=1),
        TorchEngine(read_exported(folder), vocabulary, "cpu", threads=1),
    ):
        scores = list(engine.scores(ids, starts, stops))
        order = np.argsort(np.concatenate([part.positions for part in scores]))
        probabilities.append(np.concatenate([part.source_probabilities for part in scores])[order])
    assert np.abs(probabilities[0] - probabilities[1]).mean() < 1e-4


def test_a_damaged_file_is_an_error(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes((model_folder / "model.onnx").read_bytes()[:1000])
    with pytest.raises(InputError, match="damaged"):
        read_exported(tmp_path)


def test_a_model_of_format_1_is_refused(integer_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(integer_folder, tmp_path / "model")
    model = onnx.load(folder / "model.onnx")
    facts = {fact.key: fact.value for fact in model.metadata_props}
    onnx.helper.set_model_props(model, {**facts, "format": "nmspeller model 1"})
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(InputError, match="was not written by `nmspeller lab export`"):
        read_exported(folder)
    with pytest.raises(InputError, match="was not written by `nmspeller lab export`"):
        OnnxEngine(folder / "model.onnx", Vocabulary.from_file(folder / "vocab.txt"), threads=1)
