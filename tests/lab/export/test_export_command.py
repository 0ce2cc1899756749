import json
from pathlib import Path

import pytest

from nmspeller import Speller
from nmspeller.__main__ import run


def test_export_with_calibration_and_parity(
    source_folder: Path, tmp_path: Path, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    files = ["--texts", str(pairs), "--dev", str(pairs), "--clean", str(pairs), "--parity", str(pairs)]
    assert run(["lab", "export", str(source_folder), str(out), *files, "-o", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bytes"] == (out / "model.onnx").stat().st_size
    assert (report["policy"]["pairs"], report["policy"]["clean_sentences"]) == (2, 3)
    assert report["parity"]["sentences"] == 3
    assert report["parity"]["same_edits"] >= 2
    assert Speller(out, threads=1).check("我门去外国").source == "我门去外国"


def test_export_in_single_precision(
    source_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lab", "export", str(source_folder), str(tmp_path / "out"), "--float"]) == 0
    assert "bytes:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "--texts"),
        (["--texts", "absent.txt"], "absent.txt"),
        (["--float"], "neither"),
        (["--float", "--texts", "any.txt"], "leave out --texts"),
        (["--float", "--clean", "any.txt"], "give --dev too"),
    ],
)
def test_errors_are_one_sentence(
    tmp_path: Path, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lab", "export", str(tmp_path), str(tmp_path / "out"), *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("option", ["--dev", "--parity"])
def test_a_missing_file_is_an_error_before_anything_is_written(
    source_folder: Path, tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["lab", "export", str(source_folder), str(out), "--float", option, "absent.tsv"]) == 2
    assert "absent.tsv" in capsys.readouterr().err
    assert not out.exists()
