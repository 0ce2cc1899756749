import json
import shutil
from pathlib import Path

import pytest

from nmspeller import Speller
from nmspeller.__main__ import run
from nmspeller.runtime.policy import Level
from nmspeller.runtime.prefilter import PrefilterThresholds


def test_from_checkpoints_to_edits(
    source_folder: Path, small_source: Path, tmp_path: Path, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, files = tmp_path / "model", ["--texts", str(pairs), "--dev", str(pairs), "--clean", str(pairs)]
    # The prefilter reads shorter windows than this export would ask for.
    assert run(["lab", "export", str(source_folder), str(model), *files]) == 0
    policy = (model / "policy.json").read_text("utf-8")
    (model / "policy.json").write_text(policy.replace('"window": 62', '"window": 40'), "utf-8")
    capsys.readouterr()
    assert run(["lab", "prefilter", str(small_source), str(model), *files, "-o", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bytes"] == (model / "prefilter.onnx").stat().st_size
    written = json.loads((model / "prefilter.json").read_text("utf-8"))
    for level, threshold in written["levels"].items():
        assert report[level] == {"threshold": threshold, **written["calibration"]["levels"][level]}
        assert set(report[level]) == {"threshold", "lost", "read", "clean_read"}
    model_before = (model / "model.onnx").read_bytes()
    PrefilterThresholds(dict.fromkeys(Level, 0.5)).write(model / "prefilter.json")
    for option in ([], ["--prefilter"]):
        assert run(["lab", "calibrate", str(model), *files[2:], *option]) == 0
    assert json.loads((model / "prefilter.json").read_text("utf-8")) == written
    assert (model / "model.onnx").read_bytes() == model_before
    capsys.readouterr()
    text = tmp_path / "text.txt"
    text.write_text("我门去外国", "utf-8")
    assert run(["check", "--prefilter", "--model", str(model), "-o", "json", str(text)]) in (0, 1)
    assert json.loads(capsys.readouterr().out)["text"]


def test_a_qat_checkpoint_needs_no_texts(
    small_source: Path, model_folder: Path, tmp_path: Path, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, quantised = shutil.copytree(model_folder, tmp_path / "model"), tmp_path / "quantised"
    assert run(["lab", "prepare-qat", str(small_source), "--texts", str(pairs), "--out", str(quantised)]) == 0
    assert run(["lab", "prefilter", str(quantised), str(model), "--dev", str(pairs)]) == 0
    output = capsys.readouterr().out
    assert "careful: {'threshold': " in output
    assert "clean_read" not in output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--texts", "{pairs}"], "--dev"),
        (["--dev", "{pairs}"], "--texts"),
        (["--texts", "absent.txt", "--dev", "{pairs}"], "absent.txt"),
        (["--texts", "{pairs}", "--dev", "absent.tsv"], "absent.tsv"),
        (["--texts", "{pairs}", "--dev", "{pairs}", "--clean", "absent.txt"], "absent.txt"),
        (["--texts", "{pairs}", "--dev", "/dev/null"], "no pairs"),
    ],
)
def test_errors_are_one_sentence(
    small_source: Path,
    model_folder: Path,
    tmp_path: Path,
    pairs: Path,
    arguments: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = shutil.copytree(model_folder, tmp_path / "model")
    filled = [argument.format(pairs=pairs) for argument in arguments]
    assert_error(["lab", "prefilter", str(small_source), str(model), *filled], sentence, capsys)
    # A model is never left with a prefilter that it cannot be read with.
    assert Speller(model, threads=1).check("我门去外国").edits


def test_a_prefilter_of_another_vocabulary_is_an_error(
    small_source: Path, model_folder: Path, tmp_path: Path, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = shutil.copytree(model_folder, tmp_path / "model")
    tokens = (model / "vocab.txt").read_text("utf-8")
    (model / "vocab.txt").write_text(tokens.replace("我\n们\n", "们\n我\n"), "utf-8")
    command = ["lab", "prefilter", str(small_source), str(model), "--texts", str(pairs), "--dev", str(pairs)]
    assert_error(command, "another vocab.txt", capsys)
    assert not (model / "prefilter.onnx").exists()


@pytest.mark.parametrize("missing", ["model.onnx", "policy.json", "vocab.txt"])
def test_a_folder_without_a_model_is_an_error(
    small_source: Path,
    model_folder: Path,
    tmp_path: Path,
    pairs: Path,
    missing: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = shutil.copytree(model_folder, tmp_path / "model")
    (model / missing).unlink()
    command = ["lab", "prefilter", str(small_source), str(model), "--texts", str(pairs), "--dev", str(pairs)]
    assert_error(command, missing, capsys)
    assert not (model / "prefilter.onnx").exists()


def test_a_damaged_prefilter_is_named(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = shutil.copytree(model_folder, tmp_path / "model")
    (model / "prefilter.onnx").write_bytes(b"no model")
    (tmp_path / "text.txt").write_text("我门去外国", "utf-8")
    command = ["check", "--prefilter", "--model", str(model), str(tmp_path / "text.txt")]
    assert_error(command, "prefilter.onnx is damaged", capsys)


def assert_error(command: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
