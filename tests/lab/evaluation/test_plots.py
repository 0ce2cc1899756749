"""Plots are drawn from complete and from incomplete logs."""

import json
import sys

import numpy as np
import pytest

from nmspeller.errors import InputError
from nmspeller.lab.evaluation.plots import draw_losses, draw_reliability, read_losses, reliability


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.jsonl"
    entries = [
        {"step": step, "loss": 3 / step, "tokens": 10 * step, "seconds": step} for step in range(1, 20)
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def test_losses_are_read_up_to_an_incomplete_last_line(log):
    whole = read_losses(log)
    assert whole[0] == list(range(1, 20))
    assert whole[1][2] == 1.0
    log.write_text(log.read_text() + '{"step": 20, "lo')
    assert read_losses(log) == whole


def test_a_damaged_line_is_reported(log):
    log.write_text('{"step": 1}\n' + log.read_text())
    with pytest.raises(InputError, match="line 1"):
        read_losses(log)


def test_the_same_log_draws_the_same_file(log, tmp_path):
    draw_losses({"one": log}, tmp_path / "a.png")
    draw_losses({"one": log}, tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_reliability_counts_each_edit_once(tmp_path):
    rng = np.random.default_rng(0)
    sure = np.append(rng.random(1000), [0.0, 1.0])
    right = rng.random(len(sure)) < sure
    means, shares, sizes = reliability(sure, right)
    assert sum(sizes) == len(sure)
    assert np.dot(means, sizes) == pytest.approx(sure.sum())
    assert np.dot(shares, sizes) == pytest.approx(right.sum())
    np.testing.assert_allclose(means, shares, atol=0.15)
    draw_reliability(sure, right, tmp_path / "reliability.png")
    assert (tmp_path / "reliability.png").read_bytes().startswith(b"\x89PNG")


def test_missing_edits_and_missing_matplotlib_are_input_errors(log, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="some edits"):
        draw_reliability([], [], tmp_path / "no.png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match="matplotlib"):
        draw_losses({"one": log}, tmp_path / "no.png")
