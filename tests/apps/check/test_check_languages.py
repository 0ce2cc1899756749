"""`check` in Chinese, and what it explains."""

import json
from contextvars import copy_context

import pytest

from nmspeller.messages import speak


@pytest.fixture
def letter(tmp_path):
    path = tmp_path / "信.txt"
    path.write_text("我门明天去公圆。\n", encoding="utf-8")
    return path


def test_terminal_report_in_chinese(check, letter):
    done = check("--lang", "zh", "-o", "terminal", "信.txt")
    assert done.code == 1
    assert "1:2  门 → 们  同音  0.99" in done.out
    assert done.out.endswith("在 1 个文件中发现 2 处错误。\n")


def test_summaries_in_chinese(check, tmp_path, letter):
    (tmp_path / "好.txt").write_text("没有错。\n", encoding="utf-8")
    chinese = ("--lang", "zh", "-o", "terminal")
    assert check(*chinese, "好.txt").out == "1 个文件中没有发现错误。\n"
    assert check(*chinese, "--text", "好").out == "文本中没有发现错误。\n"
    assert check(*chinese, "--text", "我门").out.endswith("在文本中发现 1 处错误。\n")
    assert check(*chinese, "好.txt", "信.txt").out.endswith("在 2 个文件中的 1 个里发现 2 处错误。\n")
    fixed = check(*chinese, "--fix", "--backup", "好.txt", "信.txt")
    assert fixed.out.endswith("在 2 个文件中的 1 个里改正了 2 处错误。\n")
    assert fixed.err == "已改正 信.txt；原文件保存为 信.txt.bak。\n"


def test_the_settings_choose_the_language_unless_the_option_does(check, tmp_path, letter, monkeypatch):
    (tmp_path / ".nmspeller.toml").write_text('lang = "zh"\n', encoding="utf-8")
    assert "(同音, 0.99)" in check("信.txt").out
    assert "(same sound, 0.99)" in check("--lang", "en", "信.txt").out
    (tmp_path / ".nmspeller.toml").write_text('lang = "en"\n', encoding="utf-8")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    from nmspeller.apps.project import config

    config.forget()
    assert "(same sound, 0.99)" in check("信.txt").out


def test_a_language_that_there_is_not(check, tmp_path, letter):
    (tmp_path / ".nmspeller.toml").write_text('lang = "fr"\n', encoding="utf-8")
    done = check("信.txt")
    assert done.code == 2
    assert done.err.endswith('.nmspeller.toml: lang is "fr", but must be one of en, zh.\n')


def test_json_stays_the_same_in_any_language(check, letter):
    assert check("-o", "json", "--lang", "zh", "信.txt").raw == check("-o", "json", "信.txt").raw


def test_sarif_and_annotations_in_chinese(check, letter):
    (run,) = json.loads(check("--lang", "zh", "-o", "sarif", "信.txt").out)["runs"]
    assert run["tool"]["driver"]["rules"][0]["id"] == "same_sound"
    assert run["tool"]["driver"]["rules"][0]["shortDescription"] == {"text": "错别字：同音"}
    assert run["results"][0]["message"] == {"text": "门 → 们 (同音, 0.99)"}
    assert "::门 → 们 (同音, 0.99)" in check("--lang", "zh", "-o", "github", "信.txt").out


WHY = "门 mén and 们 men sound the same and look similar; 我们 is a word."


def test_plain_explanations(check, letter):
    lines = check("--explain", "-o", "plain", "信.txt").out.splitlines()
    assert lines[:2] == ["信.txt:1:2: 门 → 们 (same sound, 0.99)", f"  {WHY}"]
    assert len(lines) == 4
    assert "公园 is a word" in lines[3]
    assert WHY not in check("-o", "plain", "信.txt").out


def test_explanations_on_a_terminal(check, letter):
    lines = check("--explain", "-o", "terminal", "信.txt").out.splitlines()
    at = next(number for number, line in enumerate(lines) if "1:2" in line)
    assert lines[at + 1].strip() == WHY
    assert check("--explain", "--lang", "zh", "-o", "terminal", "信.txt").out.count("是一个词。") == 2


@pytest.mark.parametrize(
    ("explain", "expected"), [((), None), (("--explain",), WHY)], ids=["without", "with"]
)
def test_explanations_in_json(check, letter, explain, expected):
    edits = json.loads(check("-o", "json", *explain, "信.txt").out)["edits"]
    assert edits[0].get("why") == expected
    assert edits[0]["reason"] == "same_sound"


def test_explanations_for_programs(check, letter):
    (run,) = json.loads(check("--explain", "-o", "sarif", "信.txt").out)["runs"]
    assert run["results"][0]["message"]["text"] == f"门 → 们 (same sound, 0.99) {WHY}"
    assert check("--explain", "-o", "github", "信.txt").out.splitlines()[0].endswith(f"0.99) {WHY}")


@pytest.mark.parametrize("options", [("-o", "diff", "信.txt"), ("--fix", "--text", "我门")])
def test_what_is_no_report_has_no_explanations(check, letter, options):
    done = check("--explain", *options)
    assert (done.code, done.out) == (2, "")
    assert "cannot be used with --explain" in done.err


def test_a_language_that_was_spoken_before_does_not_matter(check, letter):
    def after_chinese():
        speak("zh")
        return check("信.txt").out

    assert "(same sound, 0.99)" in copy_context().run(after_chinese)
