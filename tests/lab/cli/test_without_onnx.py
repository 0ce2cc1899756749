"""The commands that read and write ONNX say what to install where the package is missing."""

import sys

import pytest

from nmspeller.__main__ import run


@pytest.mark.parametrize(
    "command",
    [
        ["export", "checkpoint", "out", "--float"],
        ["calibrate", "model", "--dev", "dev.tsv"],
        ["prefilter", "checkpoint", "model", "--dev", "dev.tsv"],
        ["import-onnx", "--out", "out"],
        ["import-onnx", "--prefilter", "--out", "out"],
        ["prepare-qat", "checkpoint", "--out", "out", "--texts", "texts.txt"],
        ["prune", "checkpoint", "--out", "out", "--texts", "texts.txt", "--neurons", "8"],
    ],
    ids=" ".join,
)
def test_what_is_missing_is_said(command, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert run(["lab", *command]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "pip install 'nmspeller[train]'" in said
