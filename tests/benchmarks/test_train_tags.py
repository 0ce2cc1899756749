"""The network of tags is trained on what an exported model computes, and added to it."""

import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from safetensors.numpy import load_file

import train_tags
from nmspeller.lab.data.alignment import EXTRA, MISSING
from nmspeller.lab.export.conversion import prepare_qat
from nmspeller.lab.export.export import export_model
from nmspeller.lab.export.onnx_weights import read_exported
from nmspeller.lab.models.tag_network import TagNetwork
from nmspeller.lab.training.corruption import with_specials
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.text.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def exported(source_folder: Path, texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    return export_model(prepare_qat(source_folder, folder / "quantised", texts), folder / "model")


@pytest.fixture(scope="module")
def features(exported: Path, texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first character of each text is doubled, the fourth missing, the next two swapped; dev rows too."""
    vocabulary = Vocabulary.from_file(exported / "vocab.txt")
    reader, folder = train_tags.StateReader(exported), tmp_path_factory.mktemp("features")
    rows = []
    for text in texts:
        wrong = vocabulary.encode(text[0] + text[:3] + text[5] + text[4] + text[6:])
        right = vocabulary.encode(text[0] + text[:3] + text[4:])
        tags = np.zeros(len(wrong) + 1, np.int64)
        tags[1], tags[4] = EXTRA, MISSING
        rows.append(with_specials(wrong, right, vocabulary, tags))
    clean = [with_specials(ids, ids, vocabulary) for ids in map(vocabulary.encode, texts)]
    train_tags.write(folder, "synthetic-0-000", reader.read(rows, vocabulary.pad))
    train_tags.write(folder / "dev", train_tags.TARGET, reader.read(rows, vocabulary.pad))
    train_tags.write(folder / "dev", train_tags.CLEAN, reader.read(clean, vocabulary.pad))
    return folder


@pytest.fixture
def train(exported: Path, features: Path) -> Callable[..., dict[str, Any]]:
    """Trains a network, and gives the record of it."""

    def trained(out: Path, *, epochs: float, start: Path | None = None, rate: float = 1e-2) -> dict[str, Any]:
        fixed = {"model": exported, "features": features, "dropout": 0.0, "seed": 0, "weights": []}
        train_tags.train(Namespace(out=out, start=start, epochs=epochs, rate=rate, **fixed))
        return json.loads((out / "train.json").read_text())

    return trained


def test_a_network_learns_and_is_added_to_its_model(
    exported: Path, features: Path, train: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    first, out, new = tmp_path / "first", tmp_path / "out", tmp_path / "new"
    train(first, epochs=600.0)
    learnt = train(out, start=first, epochs=600.0)["dev"]
    assert {learnt[f"{kind}, average precision"] for kind in ("extra", "missing", "swapped")} == {100}
    train_tags.add(Namespace(model=exported, out=out, new=new))
    assert Pipeline(new).has_tags
    assert not Pipeline(exported).has_tags
    shard = train_tags.Shard.open(features / "dev", train_tags.TARGET)
    ids = np.load(features / "dev" / f"{train_tags.TARGET}.ids.npy")[: shard.length(0)].astype(np.int32)
    session = onnxruntime.InferenceSession(str(new / "model.onnx"), providers=["CPUExecutionProvider"])
    lengths = np.array([len(ids)], np.int32)
    outputs = ["tags", "source_probability"]
    tags, likely = session.run(outputs, {"ids": ids[None], "lengths": lengths})
    assert tags[0].argmax(axis=0).tolist() == [1, 4, 4]
    assert tags[0].max(axis=0).min() > 0.5
    (before,) = onnxruntime.InferenceSession(
        str(exported / "model.onnx"), providers=["CPUExecutionProvider"]
    ).run(["source_probability"], {"ids": ids[None], "lengths": lengths})
    assert np.allclose(before, likely, atol=1e-4)  # the speller itself stays as it is


def test_the_exported_network_reads_states_as_the_trained_one_reads_bytes(
    exported: Path, features: Path
) -> None:
    source = read_exported(exported)
    torch.manual_seed(1)
    network = TagNetwork(source.encoder).eval()
    shard = train_tags.Shard.open(features / "dev", train_tags.CLEAN)
    states, likely, batch = train_tags.collate([(shard, 0)])
    with torch.no_grad():
        wanted = network.tag(states, likely, batch)
        weights = train_tags.as_read(network, source)
        network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
        bytes_read = (states * 40 + 128).reshape(*states.shape[:-1], 4, -1)
        names = ["semantic.layers.1.attention.qkv"] * 2 + ["head.dense"] * 2
        scales = torch.stack([torch.from_numpy(source.weights[f"{name}.scale"]) for name in names])
        zeros = torch.tensor([float(source.weights[f"{name}.zero_point"]) for name in names])
        as_floats = ((bytes_read - zeros[:, None]) * scales).flatten(-2)
        found = network.tag(as_floats, likely, batch)
    assert torch.allclose(wanted, found, atol=1e-3)


def test_a_training_goes_on_where_another_one_ended(
    train: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    first = train(tmp_path / "first", epochs=1.0)
    second = train(tmp_path / "second", start=tmp_path / "first", epochs=1.0, rate=0.0)
    assert (first["start"], second["start"]) == (0, first["tokens"])
    before, after = (load_file(tmp_path / name / "tags.safetensors") for name in ("first", "second"))
    assert all(np.allclose(before[name], after[name], atol=1e-5) for name in before)
