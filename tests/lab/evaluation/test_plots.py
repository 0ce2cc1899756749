"""Plots are drawn from complete and from incomplete logs."""

import json
import sys

import pytest

from nmspeller.errors import InputError
from nmspeller.lab.evaluation.plots import draw_losses, read_losses


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


def test_missing_matplotlib_is_an_input_error(log, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match="matplotlib"):
        draw_losses({"one": log}, tmp_path / "no.png")
