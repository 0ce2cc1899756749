"""Spellers whose inner units a relu bends: the same numbers everywhere, and nothing spent on the bend."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from nmspeller.models.batch import Batch
from nmspeller.models.bert import from_arrays
from nmspeller.runtime.calibration import listen, round_source
from nmspeller.runtime.engine import Engine
from nmspeller.runtime.export import export_model
from nmspeller.runtime.exported import read_exported
from nmspeller.runtime.narrowing import narrow_source
from nmspeller.runtime.reopen import narrow_model, round_model
from nmspeller.runtime.weights import Source, read_source
from nmspeller.text.vocabulary import Vocabulary

FAR = 3  # a unit that reaches much further than the others


@pytest.fixture(scope="module")
def source(source_folder: Path, texts: list[str]) -> Source:
    """Bent by a relu, with one unit of each layer twenty times as large, and its weights smaller."""
    bent = narrow_source(read_source(source_folder), texts, 48, relu=True)
    for layer in ("semantic.layers.0", "semantic.layers.1"):
        for part in ("weight", "bias"):
            bent.weights[f"{layer}.up.{part}"][FAR] *= 20
        bent.weights[f"{layer}.down.weight"][:, FAR] /= 20
    return bent


@pytest.fixture(scope="module")
def checkpoint(source: Source, texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    from nmspeller.models import checkpoint

    folder = tmp_path_factory.mktemp("relu")
    checkpoint.save(folder, from_arrays(source.encoder, source.weights), source.vocabulary.tokens)
    return round_model(folder, tmp_path_factory.mktemp("rounded"), texts)


@pytest.fixture(scope="module")
def exported(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_model(checkpoint, tmp_path_factory.mktemp("exported"))


def scores(source: Source, ids: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return from_arrays(source.encoder, source.weights)(Batch(ids))


def kept(folder: Path, text: str) -> np.ndarray:
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    engine = Engine(folder / "model.onnx", vocabulary, threads=1)
    (found,) = engine.scores(vocabulary.encode(text), np.array([0]), np.array([len(text)]))
    return found.kept


def kept_on_pytorch(source: Source, text: str) -> np.ndarray:
    vocabulary = source.vocabulary
    ids = torch.tensor([[vocabulary.cls, *vocabulary.encode(text).tolist(), vocabulary.sep]])
    probabilities = scores(source, ids).softmax(dim=-1)
    return probabilities.gather(2, ids[:, :, None])[0, 1:-1, 0].numpy()


def test_pytorch_and_the_graph_bend_alike(source: Source, texts: list[str], tmp_path: Path) -> None:
    from nmspeller.models import checkpoint

    checkpoint.save(tmp_path / "ck", from_arrays(source.encoder, source.weights), source.vocabulary.tokens)
    folder = export_model(tmp_path / "ck", tmp_path / "float")
    np.testing.assert_allclose(kept(folder, texts[0]), kept_on_pytorch(source, texts[0]), atol=1e-5)
    # A relu it is: with a gelu the same weights say something else.
    gelu = replace(source, encoder=replace(source.encoder, activation="gelu"))
    assert np.abs(kept(folder, texts[0]) - kept_on_pytorch(gelu, texts[0])).max() > 1e-3


def test_integers_spend_nothing_on_the_bend(exported: Path) -> None:
    graph = onnx.load(exported / "model.onnx").graph
    operators = [node.op_type for node in graph.node]
    assert operators.count("Gelu") == 1  # the head's
    assert "Relu" not in operators
    assert not any(tensor.name.endswith(".down.share") for tensor in graph.initializer)


def test_a_far_unit_is_made_smaller_before_the_relu(source: Source, texts: list[str]) -> None:
    before, rounded = source.weights, round_source(source, texts)
    for layer in ("semantic.layers.0", "semantic.layers.1"):
        steps = rounded.weights[f"{layer}.down.steps"]
        assert (steps == steps[0]).all()
        assert rounded.weights[f"{layer}.down.zero"] == 0
        smaller = np.abs(before[f"{layer}.up.weight"]).max(1) / np.abs(
            rounded.weights[f"{layer}.up.weight"]
        ).max(1)
        assert smaller[FAR] >= max(4, 0.99 * smaller.max())
        assert smaller.min() == pytest.approx(1, abs=0.02)


def test_integers_say_what_the_rounded_speller_says(
    checkpoint: Path, exported: Path, texts: list[str]
) -> None:
    rounded = kept_on_pytorch(read_source(checkpoint), texts[0])
    np.testing.assert_allclose(kept(exported, texts[0]), rounded, atol=2e-3)


def test_an_export_gives_back_what_it_was_made_of(checkpoint: Path, exported: Path) -> None:
    source, found = read_source(checkpoint), read_exported(exported)
    assert found.encoder.activation == "relu"
    assert found.weights.keys() == source.weights.keys()
    for name, array in source.weights.items():
        np.testing.assert_allclose(found.weights[name], array, rtol=1e-5, atol=1e-7, err_msg=name)


def test_the_weights_are_fitted_to_what_the_layer_said(source_folder: Path, texts: list[str]) -> None:
    gelu = read_source(source_folder)
    # More texts than units, or any weights would fit.
    characters = gelu.vocabulary.tokens[5:]
    texts = ["".join(row) for row in np.random.default_rng(0).choice(characters, (96, 20))]
    relu = narrow_source(gelu, texts[:64], gelu.encoder.intermediate, relu=True)
    layer = "semantic.layers.0"
    heard = listen(gelu, texts[64:])
    expected = heard[f"{layer}.down"] @ gelu.weights[f"{layer}.down.weight"].T
    expected += gelu.weights[f"{layer}.down.bias"]
    inner = heard[f"{layer}.up"] @ gelu.weights[f"{layer}.up.weight"].T + gelu.weights[f"{layer}.up.bias"]

    def error(weights: dict[str, np.ndarray]) -> float:
        found = np.maximum(inner, 0) @ weights[f"{layer}.down.weight"].T + weights[f"{layer}.down.bias"]
        return float(np.square(found - expected).mean())

    assert error(relu.weights) < 0.5 * error(gelu.weights)


def test_the_command_writes_a_checkpoint_with_a_relu(
    source_folder: Path, texts: list[str], tmp_path: Path
) -> None:
    folder = narrow_model(source_folder, tmp_path / "out", texts, 64, relu=True)
    found = read_source(folder).encoder
    assert (found.intermediate, found.activation) == (64, "relu")
