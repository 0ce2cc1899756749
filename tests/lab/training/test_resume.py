"""A training resumes exactly, from its own state only."""

import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.models import checkpoint
from nmspeller.lab.training import state, trainer
from nmspeller.lab.training.finetune import finetune
from nmspeller.lab.training.recipes import read_recipe
from nmspeller.lab.training.start import start_model

# The second stage does not set its dropout and inherits that of the first.
LOOP = {"precision": "fp32", "log_every": 1, "save_seconds": 1e-6, "optimiser": {"rate": 1e-2}}
RECIPE = {
    "stages": [
        {"copies": {"sighan13_train": 4}, "batch_sentences": 8, "dropout": 0.3, "loop": LOOP},
        {"copies": {"sighan14_train": 4}, "batch_sentences": 8, "loop": LOOP},
    ]
}


class Stopped(BaseException):
    pass


@pytest.fixture
def train(little_prepared, little_start):
    def trained(out, *, seed=0, model=None, recipe=RECIPE, teacher=None):
        speller = start_model({"speller": "bert", **(model or {})}, little_start, seed=seed)
        return finetune(
            speller, read_recipe(recipe), little_prepared, out=out, seed=seed, teacher=teacher
        ).state_dict()

    return trained


@pytest.fixture
def train_until(train, monkeypatch):
    """Train, and stop after so many saved states."""

    def until(saves, out, **options):
        save, count = trainer.Trainer._save, iter(range(1, 1000))

        def save_and_stop(self):
            save(self)
            if next(count) == saves:
                raise Stopped

        with monkeypatch.context() as patch:
            patch.setattr(trainer.Trainer, "_save", save_and_stop)
            with pytest.raises(Stopped):
                train(out, **options)

    return until


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("saves", [2, 5], ids=["in the first stage", "in the second stage"])
def test_a_resumed_training_ends_with_the_same_weights(train, train_until, tmp_path, saves):
    uninterrupted = train(tmp_path / "whole")
    train_until(saves, tmp_path / "stopped")
    assert (tmp_path / "stopped" / "stage0").exists() is (saves == 5)
    assert same(train(tmp_path / "stopped"), uninterrupted)


@pytest.mark.parametrize("saves", [2, 5], ids=["in the first stage", "in the second stage"])
@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"model": {"masking": {"ngram": "trigram"}}},
        {"recipe": {"stages": [{**stage, "epochs": 2} for stage in RECIPE["stages"]]}},
    ],
    ids=["seed", "model", "recipe"],
)
def test_the_state_of_another_training_is_an_error(train, train_until, tmp_path, saves, other):
    train_until(saves, tmp_path)
    with pytest.raises(InputError, match="other settings"):
        train(tmp_path, **other)


def test_another_teacher_is_another_training(train, train_until, tmp_path, little_start):
    train_until(2, tmp_path)
    with pytest.raises(InputError, match="other settings"):
        train(tmp_path, teacher=checkpoint.load(little_start)[0])


def test_a_damaged_state_is_an_error(train, train_until, tmp_path):
    train_until(2, tmp_path)
    stored = tmp_path / "stage0.resume.safetensors"
    stored.write_bytes(stored.read_bytes()[:1000])
    with pytest.raises(InputError, match="damaged"):
        train(tmp_path)


def test_a_full_disk_is_an_error_and_leaves_no_partial_state(train, tmp_path, monkeypatch):
    def full(tensors, path, metadata):
        path.write_bytes(b"half")
        raise state.SafetensorError("No space left on device")

    monkeypatch.setattr(state, "save_file", full)
    with pytest.raises(InputError, match="No space left"):
        train(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["stage0.jsonl"]


def test_infinite_weights_after_the_last_step_are_an_error(train, tmp_path):
    loop = {**LOOP, "warm_up": 0.0, "optimiser": {"rate": 1e30, "weight_decay": 1e30}}
    stage = {"copies": {"sighan13_train": 1}, "batch_sentences": 100, "loop": loop}
    with pytest.raises(InputError, match="lower the learning rate"):
        train(tmp_path, recipe={"stages": [stage]})
