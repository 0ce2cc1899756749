"""Weights read without torch are checked as well: a checkpoint must fit its own config."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from nmspeller.__main__ import run
from nmspeller.errors import InputError
from nmspeller.lab.export.conversion import import_onnx
from nmspeller.lab.export.weights import read_weights

UP = "semantic.layers.0.feed_forward.up.weight"


@pytest.fixture
def checkpoint(model_folder: Path, tmp_path: Path) -> Path:
    return import_onnx(model_folder, tmp_path / "checkpoint")


def without(tensors: dict[str, np.ndarray]) -> None:
    del tensors[UP]


def cut(tensors: dict[str, np.ndarray]) -> None:
    tensors[UP] = tensors[UP][:10].copy()


def not_a_number(tensors: dict[str, np.ndarray]) -> None:
    tensors[UP] = tensors[UP].copy()
    tensors[UP][3, 4] = np.nan


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [(without, "has no"), (cut, "of shape (10, 32)"), (not_a_number, "not finite numbers")],
)
@pytest.mark.parametrize("command", ["export", "prepare-qat"])
def test_weights_that_do_not_fit_are_an_error(
    checkpoint: Path,
    tmp_path: Path,
    command: str,
    damage: Callable[[dict[str, np.ndarray]], None],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tensors = load_file(checkpoint / "model.safetensors")
    damage(tensors)
    save_file(tensors, checkpoint / "model.safetensors")
    texts, out = tmp_path / "texts.txt", tmp_path / "out"
    texts.write_text("我们去外国可以认识很多的人。\n", "utf-8")
    where = [str(out)] if command == "export" else ["--out", str(out)]
    assert run(["lab", command, str(checkpoint), *where, "--texts", str(texts)]) == 2
    error = capsys.readouterr().err
    assert UP in error
    assert sentence in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_a_vocabulary_of_another_size_is_an_error(
    source_folder: Path, checkpoint: Path, tmp_path: Path
) -> None:
    backbone = tmp_path / "backbone"
    shutil.copytree(source_folder, backbone)
    for folder in (checkpoint, backbone):
        with (folder / "vocab.txt").open("a", encoding="utf-8") as file:
            file.write("龘\n")
        with pytest.raises(InputError, match="tokens"):
            read_weights(folder)


def test_a_config_of_other_sizes_is_an_error(source_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backbone"
    shutil.copytree(source_folder, folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "intermediate_size": 48}), "utf-8")
    with pytest.raises(InputError, match="of shape"):
        read_weights(folder)
