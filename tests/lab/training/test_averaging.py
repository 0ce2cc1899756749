"""The average of checkpoints is their mean, and is of one model only."""

import pytest
import torch

from nmspeller.__main__ import run
from nmspeller.errors import InputError
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.registry import build, parse
from nmspeller.lab.training.averaging import average

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"甲乙丙丁戊"]


def write(folder, seed, **more):
    torch.manual_seed(seed)
    sizes = {"hidden": 16, "layers": 1, "heads": 2, "intermediate": 32, "positions": 8, "mask_id": 4}
    model = build(parse({"speller": "bert", "encoder": {"vocabulary": len(TOKENS), **sizes, **more}}))
    checkpoint.save(folder, model, TOKENS)
    return folder


def test_every_weight_is_the_mean(tmp_path):
    folders = [write(tmp_path / str(seed), seed) for seed in range(3)]
    assert run(["lab", "average", *map(str, folders), "--out", str(tmp_path / "mean")]) == 0
    states = [checkpoint.load(folder)[0].state_dict() for folder in folders]
    for name, tensor in checkpoint.load(tmp_path / "mean")[0].state_dict().items():
        assert torch.allclose(tensor, sum(state[name] for state in states) / 3, atol=1e-6), name


def test_checkpoints_of_different_models_are_an_error(tmp_path, capsys):
    one, other = write(tmp_path / "one", 0), write(tmp_path / "other", 0, layers=2)
    assert run(["lab", "average", str(one), str(other), "--out", str(tmp_path / "mean")]) == 2
    assert "another model" in capsys.readouterr().err
    with pytest.raises(InputError, match="two or more"):
        average([one], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()
