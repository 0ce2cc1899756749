import json
from pathlib import Path

import pytest

from nmspeller import Speller
from nmspeller.apps.cli import run

PAIRS = "我门去外国\t我们去外国\n他在国外\t他在国外\n可以借少\t可以介绍\n"


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS, "utf-8")
    return path


def test_everything_at_once(
    source_folder: Path, tmp_path: Path, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    files = ["--texts", str(pairs), "--dev", str(pairs), "--clean", str(pairs), "--parity", str(pairs)]
    assert run(["export", str(source_folder), str(out), *files, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bytes"] == (out / "model.onnx").stat().st_size
    assert report["policy"]["pairs"] == report["policy"]["clean_sentences"] == 3
    assert report["parity"]["sentences"] == 3
    assert report["parity"]["same_edits"] >= 2
    assert Speller(out, threads=1).check("我门去外国").source == "我门去外国"


def test_single_precision(source_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", str(source_folder), str(tmp_path / "out"), "--float"]) == 0
    assert "bytes:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [([], "--texts"), (["--texts", "absent.txt"], "absent.txt"), (["--float"], "neither")],
)
def test_what_is_wrong_is_said_in_one_sentence(
    tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", str(tmp_path), str(tmp_path / "out"), *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_layer_that_does_not_exist(
    source_folder: Path, tmp_path: Path, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--texts", str(pairs), "--fine", "sideways"]
    assert run(["export", str(source_folder), str(tmp_path / "out"), *options]) == 2
    assert "qkv, out, up, down" in capsys.readouterr().err


def test_finer_layers_have_a_second_product(source_folder: Path, tmp_path: Path, pairs: Path) -> None:
    import onnx

    counts = []
    for name, kinds in (("one", ["1.down"]), ("few", ["down"]), ("many", ["qkv", "up", "down"])):
        options = [part for kind in kinds for part in ("--fine", kind)]
        assert run(["export", str(source_folder), str(tmp_path / name), "--texts", str(pairs), *options]) == 0
        nodes = onnx.load(tmp_path / name / "model.onnx").graph.node
        counts.append(sum(node.op_type == "MatMulIntegerToFloat" for node in nodes))
    assert counts[1] - counts[0] == 1  # the other of two layers
    assert counts[2] - counts[1] == 4  # two layers, two more products each
