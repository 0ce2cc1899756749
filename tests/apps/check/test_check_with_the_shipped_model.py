"""The whole way, with the model that is shipped."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nmspeller.runtime.findings import Reason
from nmspeller.runtime.pipeline import SHIPPED
from nmspeller.runtime.rules import RULES
from nmspeller.text.script import is_traditional

ROOT = Path(__file__).parents[3]


def start(*arguments):
    """The command as a process of its own."""
    command = [sys.executable, "-m", "nmspeller", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120)


def test_the_sample_of_the_readme():
    result = start("check", "examples/sample.txt")
    found = result.stdout.decode()
    assert result.returncode == 1
    for correction in ("门 → 们", "汽 → 气", "己经 → 已经", "气 → 汽"):
        assert correction in found
    assert not result.stderr
    readme = (ROOT / "README.md").read_text("utf-8")
    shown = [line for line in readme.splitlines() if line.startswith("examples/sample.txt:")]
    assert shown == found.splitlines()[: len(shown)] != []


@pytest.fixture(scope="module")
def edits_of_the_sample():
    return json.loads(start("check", "-o", "json", "examples/sample.txt").stdout)["edits"]


def test_the_findings_that_the_manual_shows(edits_of_the_sample):
    manual = (ROOT / "docs" / "cli.md").read_text("utf-8")
    for edit in edits_of_the_sample[:3]:
        why = RULES[edit["rule"]].name if edit["rule"] else Reason(edit["reason"]).label
        finding = f"{edit['source']} → {edit['target']} {why} "
        (line,) = [line for line in manual.splitlines() if finding in " ".join(line.split()) + " "]
        assert line.endswith(f"{edit['confidence']:.2f}")


def test_a_simplified_text_gets_simplified_candidates(nmspeller):
    text = "我们在教室理上课，他在家理看书。"
    edits = json.loads(nmspeller("check", "-o", "json", "--text", text).out)["edits"]
    assert [edit["target"] for edit in edits] == ["里", "里"]
    offered = [candidate for edit in edits for candidate in edit["alternatives"]]
    assert offered
    assert not any(map(is_traditional, offered)), offered


def test_with_the_prefilter_plain_errors_are_still_found(edits_of_the_sample, nmspeller):
    sample = ROOT / "examples" / "sample.txt"
    prefiltered = nmspeller("check", "--prefilter", "-o", "json", sample).out
    assert json.loads(prefiltered)["edits"] == edits_of_the_sample != []


def test_formats_are_kept_to_the_byte(tmp_path, nmspeller):
    (tmp_path / "a.md").write_text(
        "# 我**门**的 `我门` 计划\r\n\r\n[我们己经](http://x/己经)到了。\r\n", newline=""
    )
    (tmp_path / "b.html").write_text('<p title="我门">我<b>门</b>一起去公园玩。</p>')
    result = nmspeller("check", "--fix", "-o", "json", "a.md", "b.html")
    assert result.code == 1
    assert (tmp_path / "a.md").read_bytes().decode() == (
        "# 我**们**的 `我门` 计划\r\n\r\n[我们已经](http://x/己经)到了。\r\n"
    )
    assert (tmp_path / "b.html").read_text() == '<p title="我们">我<b>们</b>一起去公园玩。</p>'
    assert [json.loads(line)["path"] for line in result.out.splitlines()] == ["a.md", "b.html"]


def test_traditional_big5_in_and_out(tmp_path, nmspeller):
    (tmp_path / "a.txt").write_bytes("今天下午我門一起去公園玩，天氣非常好。".encode("big5"))
    nmspeller("check", "--fix", "a.txt")
    assert (tmp_path / "a.txt").read_bytes().decode("big5") == "今天下午我們一起去公園玩，天氣非常好。"


def test_a_paragraph_that_could_be_of_either_script_has_that_of_its_document(tmp_path, nmspeller):
    (tmp_path / "a.md").write_text("這是一個很長的問題。\n\n今天大家都很高心。\n", "utf-8")
    nmspeller("check", "--fix", "a.md")
    assert (tmp_path / "a.md").read_text("utf-8") == "這是一個很長的問題。\n\n今天大家都很高興。\n"


@pytest.mark.parametrize("damage", ["truncated", "empty", "missing"])
def test_a_damaged_model_is_one_sentence(tmp_path, nmspeller, damage):
    folder = tmp_path / "model"
    shutil.copytree(SHIPPED, folder)
    content = (folder / "model.onnx").read_bytes()
    if damage == "missing":
        (folder / "model.onnx").unlink()
    else:
        (folder / "model.onnx").write_bytes(content[: len(content) // 2] if damage == "truncated" else b"")
    (tmp_path / "a.txt").write_text("我门")
    result = nmspeller("check", "--fix", "--model", "model", "a.txt")
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "model" in result.err
    assert (tmp_path / "a.txt").read_text() == "我门"
