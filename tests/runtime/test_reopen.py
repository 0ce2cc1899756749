"""An exported model becomes a checkpoint again, from which training goes on."""

from pathlib import Path

import pytest
import torch

from nmspeller import InputError
from nmspeller.apps.cli import run
from nmspeller.models import checkpoint
from nmspeller.models.batch import Batch
from nmspeller.runtime.reopen import reopen_model
from nmspeller.runtime.weights import read_source
from nmspeller.training.start import start_model


def test_a_reopened_model_says_what_its_source_said(
    source_folder: Path, model_folder: Path, tmp_path: Path
) -> None:
    reopened, tokens = checkpoint.load(reopen_model(model_folder, tmp_path))
    source = read_source(source_folder)
    assert tokens == source.vocabulary.tokens
    original = start_model({"speller": "bert"}, source_folder).eval()
    ids = torch.randint(5, len(tokens), (2, 12))
    assert torch.allclose(reopened(Batch(ids)), original(Batch(ids)), atol=1e-5)


def test_training_starts_from_it(model_folder: Path, tmp_path: Path) -> None:
    assert run(["reopen", str(model_folder), "--out", str(tmp_path / "again")]) == 0
    model = start_model({"speller": "bert", "masking": {"ngram": "trigram"}}, tmp_path / "again")
    again, _ = checkpoint.load(tmp_path / "again")
    assert torch.equal(model.semantic.layers[1].up.weight, again.semantic.layers[1].up.weight)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nmspeller export"):
        reopen_model(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
