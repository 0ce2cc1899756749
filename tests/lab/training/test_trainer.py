"""The training loop: it learns, ends within its budget, resumes, and runs in several processes."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from tests.forking import starting

SCRIPT = Path(__file__).with_name("little.py")
_spec = importlib.util.spec_from_file_location("little", SCRIPT)
little = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(little)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def log(folder):
    return [json.loads(line) for line in (folder / "train.jsonl").read_text().splitlines()]


def losses(folder):
    return [(entry["step"], entry["loss"]) for entry in log(folder)]


def alone():
    return {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}


def test_the_loss_falls(little_prepared, little_start, tmp_path):
    little.train(little_prepared, little_start, tmp_path, epochs=4)
    found = [loss for _, loss in losses(tmp_path)]
    assert sum(found[-5:]) < 0.85 * sum(found[:5])
    assert not (tmp_path / "train.resume.safetensors").exists()


def test_a_killed_training_resumes_with_the_same_losses(little_prepared, little_start, tmp_path):
    little.train(little_prepared, little_start, tmp_path / "whole", average=0.9)
    whole = losses(tmp_path / "whole")
    little.train(little_prepared, little_start, tmp_path / "plain")
    assert [loss for _, loss in whole] == [loss for _, loss in losses(tmp_path / "plain")]

    # Each in a process of its own: what ran before in this one may have switched to other matrix kernels.
    with starting(SCRIPT, alone()) as training:

        def command(name: str, pause: str) -> list[str]:
            return [*training, little_prepared.folder, little_start, tmp_path / name, pause, "0.1"]

        subprocess.run(command("uninterrupted", "0"), env=alone(), check=True)
        uninterrupted = losses(tmp_path / "uninterrupted")
        folder = tmp_path / "killed"
        process = subprocess.Popen(command("killed", "0.2"), env=alone())
        until = time.monotonic() + 120
        while time.monotonic() < until and process.poll() is None:
            if (folder / "train.jsonl").exists() and len(losses_so_far(folder)) >= 5:
                break
            time.sleep(0.02)
        os.kill(int((folder / "process").read_text()), signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert (folder / "train.resume.safetensors").exists()
        assert len(losses_so_far(folder)) < len(uninterrupted)
        subprocess.run(command("killed", "0"), env=alone(), check=True)
        assert losses(folder) == uninterrupted


def losses_so_far(folder):
    return [line for line in (folder / "train.jsonl").read_text().splitlines() if line.endswith("}")]


def test_two_processes_give_the_losses_of_one(little_prepared, little_start, tmp_path):
    little.train(little_prepared, little_start, tmp_path / "one", dropout=0.0)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", SCRIPT]
    command += [little_prepared.folder, little_start, tmp_path / "two", "0", "0.0"]
    done = subprocess.run(command, env=alone(), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    one, two = losses(tmp_path / "one"), losses(tmp_path / "two")
    assert [step for step, _ in one] == [step for step, _ in two]
    assert [loss for _, loss in two] == pytest.approx([loss for _, loss in one], rel=1e-3)


def test_a_training_ends_within_its_budget_with_the_schedule_complete(
    little_prepared, little_start, tmp_path
):
    _, last = little.train(
        little_prepared, little_start, tmp_path, epochs=500, pause=0.02, seconds=1.0, save_seconds=0
    )
    assert last.step < last.steps
    rates = [entry["rate"] for entry in log(tmp_path)]
    assert rates[-1] < 0.3 * max(rates)


def test_the_average_of_the_weights_is_closer_to_the_start(little_prepared, little_start, tmp_path):
    plain, _ = little.train(little_prepared, little_start, tmp_path / "plain", save_seconds=0)
    mean, _ = little.train(little_prepared, little_start, tmp_path / "mean", save_seconds=0, average=0.99)
    start = little.start_model({"speller": "bert"}, little_start)

    def distance(model):
        pairs = zip(model.parameters(), start.parameters(), strict=True)
        return sum(float((a - b).detach().pow(2).sum()) for a, b in pairs)

    assert 0 < distance(mean) < distance(plain)


def test_packed_rows_give_the_losses_of_padded_ones(little_prepared, little_start, tmp_path):
    options = {"dropout": 0.0, "save_seconds": 0}
    little.train(little_prepared, little_start, tmp_path / "padded", **options)
    little.train(little_prepared, little_start, tmp_path / "packed", packed=True, **options)
    padded, packed = ([loss for _, loss in losses(tmp_path / name)] for name in ("padded", "packed"))
    assert packed == pytest.approx(padded, rel=1e-2)
