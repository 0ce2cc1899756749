"""`nmspeller batch` as people type it."""

import json

import pytest

from nmspeller.__main__ import run

SPELLER = ["--speller", "stand_in_speller:StandIn"]


def test_the_summary_in_words_and_in_json(tmp_path, capsys):
    (tmp_path / "a.jsonl").write_text('{"body": "我己经来了。在见！"}\n{"body": 5}\n', encoding="utf-8")
    (tmp_path / "words.txt").write_text("在见\n", encoding="utf-8")
    command = ["batch", str(tmp_path / "a.jsonl"), str(tmp_path / "out"), "--column", "body", *SPELLER]
    command += ["--words", str(tmp_path / "words.txt"), "--workers", "1", "--max-bad-share", "0.5"]
    assert run(command) == 0
    said, complaints = capsys.readouterr()
    assert complaints == ""
    assert "2 sentences in 2 rows" in said
    assert "1 edit in 1 row: 1 similar shape." in said
    assert "nmspeller-quarantine.jsonl" in said
    assert (tmp_path / "out" / "a.jsonl").read_text(encoding="utf-8") == '{"body": "我已经来了。在见！"}\n'
    # The second run only repeats the summary.
    assert run([*command, "-o", "json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["rows"], summary["edits"], summary["quarantined"]) == (2, 1, 1)
    assert summary["slowest_shard"]["file"].endswith("a.jsonl")


def test_the_summary_and_errors_in_chinese(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("我己经来了。\n再见！\n", encoding="utf-8")
    command = ["batch", str(tmp_path / "a.txt"), str(tmp_path / "out"), *SPELLER, "--workers", "1"]
    assert run([*command, "--lang", "zh"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("1 个文件，2 行，2 句；用时 ")
    assert "1 行中有 1 处修改：形近 1 处。" in said
    assert run([*command, "--lang", "zh", "--level", "thorough"]) == 2
    assert "out 中是另一个任务（--level：原为 'balanced'，现为 'thorough'）；" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--address", "auto"], "--address needs --engine ray."),
        (["--engine", "ray", "--address", "127.0.0.2:7"], "Ray cannot reach or start 127.0.0.2:7: "),
        (
            ["--prefilter", "--device", "cuda"],
            "--device cuda cannot be used with --prefilter.",
        ),
        (["--write", "all"], "'--write': 'all' is not one of"),
        (["--shard-size", "0"], "--shard-size"),
        (["--words", "none.txt"], "none.txt"),
        (["--column", "title"], "choose with --column among text, note, note."),
        (["--column", "note"], "has two columns 'note'; give one of them another name."),
    ],
)
def test_bad_usage_is_one_sentence(tmp_path, capsys, options, says):
    (tmp_path / "a.csv").write_text("text,note,note\n己,1,2\n", encoding="utf-8")
    assert run(["batch", str(tmp_path / "a.csv"), str(tmp_path / "out"), *SPELLER, *options]) == 2
    said, complaint = capsys.readouterr()
    assert said == ""
    assert says in complaint
    assert complaint.count("\n") == 1
