"""An exported model gives its weights back, so that a GPU needs no second file."""

from pathlib import Path

import numpy as np
import pytest

from nmspeller import InputError
from nmspeller.runtime.engine import Engine
from nmspeller.runtime.export import export_model
from nmspeller.runtime.exported import read_exported
from nmspeller.runtime.torch_engine import TorchEngine
from nmspeller.runtime.weights import read_source
from nmspeller.text.vocabulary import Vocabulary


def test_weights_are_those_of_the_source_but_for_rounding(
    source_folder: Path, tmp_path: Path, texts: list[str]
) -> None:
    source = read_source(source_folder)
    found = read_exported(export_model(source_folder, tmp_path, texts=texts))
    assert found.encoder.heads == source.encoder.heads
    assert found.encoder.layers == source.encoder.layers
    assert found.encoder.norm_epsilon == pytest.approx(source.encoder.norm_epsilon)
    assert found.weights.keys() == source.weights.keys()
    for name, array in source.weights.items():
        largest = float(np.abs(array).max())
        assert np.abs(found.weights[name] - array).max() < max(0.1 * largest, 0.02), name


def test_a_float_export_gives_them_back_exactly(source_folder: Path, model_folder: Path) -> None:
    source, found = read_source(source_folder), read_exported(model_folder)
    assert found.weights.keys() == source.weights.keys()
    for name, array in source.weights.items():
        assert (found.weights[name] == array).all(), name


def test_floats_say_nearly_what_the_integers_say(
    source_folder: Path, tmp_path: Path, texts: list[str]
) -> None:
    folder = export_model(source_folder, tmp_path, texts=texts)
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    ids = vocabulary.encode(texts[0] + texts[1])
    starts = np.array([0, len(texts[0])])
    stops = np.array([len(texts[0]), len(ids)])
    kept = []
    for engine in (
        Engine(folder / "model.onnx", vocabulary, threads=1),
        TorchEngine(read_exported(folder), vocabulary, "cpu", threads=1),
    ):
        scores = list(engine.scores(ids, starts, stops))
        order = np.argsort(np.concatenate([part.positions for part in scores]))
        kept.append(np.concatenate([part.kept for part in scores])[order])
    assert np.abs(kept[0] - kept[1]).max() < 0.1
    assert np.abs(kept[0] - kept[1]).mean() < 0.02


def test_a_damaged_file_is_refused(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes((model_folder / "model.onnx").read_bytes()[:1000])
    with pytest.raises(InputError, match="damaged"):
        read_exported(tmp_path)
