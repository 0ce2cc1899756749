"""`check --baseline`: a team with old findings hears of new ones only."""

import json
import os
import string
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted_speller import ScriptedSpeller

from nmspeller.apps.baseline import Baseline

BASELINE = ("--baseline", "known.json")
OLD = "# 周末\n\n上个周末，我门一家人去公圆玩。今天的天汽真好。\n\n我门都想看。\n\n我门都想看。\n"


@pytest.fixture
def project(check, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(OLD)
    (tmp_path / "docs" / "b.md").write_text("他门来了。\n")
    result = check("docs", *BASELINE, "--update-baseline")
    assert (result.code, result.out) == (0, "")
    assert result.err == "Wrote 6 findings to known.json.\n"
    return tmp_path


def test_known_findings_are_no_failure(check, project):
    result = check("docs", *BASELINE)
    assert (result.code, result.out) == (0, "")
    assert result.err == "6 known findings are not shown.\n"


def test_changes_elsewhere_make_no_difference(check, project):
    changed = "新的一段话，没有问题。\n\n" + OLD.replace("# 周末\n\n", "")
    (project / "docs" / "a.md").write_text(changed.replace("。今天的", "。后来也很好。今天\n的"))
    result = check("docs", *BASELINE)
    assert (result.code, result.out) == (0, "")
    os.makedirs(project / "elsewhere")
    os.chdir(project / "elsewhere")
    assert check("../docs", "--baseline", "../known.json").code == 0


def test_correcting_a_finding_nearby_leaves_the_others_known(check, project):
    (project / "docs" / "a.md").write_text(OLD.replace("公圆", "公园"))
    result = check("docs", *BASELINE)
    assert (result.code, result.out) == (0, "")
    assert result.err == (
        "5 known findings are not shown.\n"
        "1 finding of known.json is gone; remove it from there with --update-baseline.\n"
    )
    assert check("docs", *BASELINE, "--update-baseline").err == "Wrote 5 findings to known.json.\n"
    assert check("docs", *BASELINE).err == "5 known findings are not shown.\n"


def test_a_further_rule_leaves_the_findings_beside_its_own_known(check, tmp_path):
    (tmp_path / "a.md").write_text("今天,我门去公圆.\n")
    assert check("a.md", "--no-rules", *BASELINE, "--update-baseline").code == 0
    baseline, text = Baseline.read(tmp_path / "known.json"), "今天,我门去公圆.\n"
    edits = ScriptedSpeller().edits(text)
    comma = replace(edits[0], offset=2, source=",", target="，")
    assert baseline.unknown(tmp_path / "a.md", text, [comma, *edits]) == [comma]


def test_a_word_leaves_the_findings_beside_it_known(check, project):
    (project / "words.txt").write_text("公圆\n")
    (project / "docs" / "a.md").write_text(OLD)
    result = check("docs", *BASELINE, "--words", "words.txt")
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith("5 known findings are not shown.\n")


def test_hints_are_known_as_well(check, tmp_path):
    (tmp_path / "a.md").write_text("张琳说他不来。\n")
    assert check("a.md", *BASELINE, "--update-baseline").err == "Wrote 1 finding to known.json.\n"
    assert check("a.md", *BASELINE).out == ""
    (tmp_path / "a.md").write_text("张琳说他不来。\n\n还有张琳。\n")
    assert check("a.md", *BASELINE).out.startswith("a.md:3:3: hint: 张琳")


def test_a_baseline_that_has_the_corrected_context_alone_still_counts(check, project):
    entries = json.loads((project / "known.json").read_text())
    for entry in (entry for file in entries["files"].values() for entry in file):
        entry["context"] = entry.pop("corrected", entry["context"])
    (project / "known.json").write_text(json.dumps(entries))
    assert check("docs", *BASELINE).err == "6 known findings are not shown.\n"


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["-o", "plain"], "docs/a.md:9:2: 门 → 们 (same sound, 0.99)"),
        (["-o", "github"], "line=9,col=2"),
        (["-o", "terminal"], "1 error found in 1 of 2 files."),
        (["-o", "sarif"], '"startLine": 9'),
        (["-o", "diff"], "+我们都想看。"),
    ],
)
def test_one_more_of_the_same_is_new_in_every_output(check, project, arguments, shown):
    (project / "docs" / "a.md").write_text(OLD + "\n我门都想看。\n")
    result = check("docs", *BASELINE, *arguments)
    assert result.code == 1
    assert shown in result.out
    assert "公圆" not in result.out.replace(" 上个周末，我门一家人去公圆玩", "")
    assert "他门" not in result.out


def test_json_has_the_new_edits_only(check, project):
    text = OLD + "\n老师借少了一本书。\n"
    (project / "docs" / "a.md").write_text(text)
    first, second = map(json.loads, check("docs", *BASELINE, "-o", "json").out.splitlines())
    assert [edit["target"] for edit in first["edits"]] == ["介绍"]
    assert first["corrected"] == text.replace("借少", "介绍")
    assert second["edits"] == []


def test_fix_corrects_the_new_findings_only(check, project):
    (project / "docs" / "a.md").write_text(OLD + "\n老师借少了一本书。\n")
    result = check("docs", *BASELINE, "--fix")
    assert result.code == 1
    assert (project / "docs" / "a.md").read_text() == OLD + "\n老师介绍了一本书。\n"
    assert (project / "docs" / "b.md").read_text() == "他门来了。\n"


def test_files_that_are_not_checked_keep_their_entries_and_files_that_are_gone_do_not(check, project):
    (project / "docs" / "b.md").write_text("他们来了。\n")
    result = check("docs/a.md", *BASELINE)
    assert "gone" not in result.err
    assert check("docs/a.md", *BASELINE, "--update-baseline").err == "Wrote 6 findings to known.json.\n"
    (project / "docs" / "b.md").unlink()
    assert "1 finding of known.json is gone" in check("docs/a.md", *BASELINE).err
    assert check("docs/a.md", *BASELINE, "--update-baseline").err == "Wrote 5 findings to known.json.\n"


def test_the_file_has_one_line_for_each_entry_and_no_text_of_the_document(check, project):
    content = (project / "known.json").read_text()
    assert json.loads(content)["version"] == 1
    assert list(json.loads(content)["files"]) == ["docs/a.md", "docs/b.md"]
    assert content.count('"source"') == content.count("\n   {") == 5  # two of the six are equal
    assert '"count": 2' in content
    assert "想看" not in content


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<<<<<<< HEAD\n",
        b"\xff\xfe\x00",
        b"[]",
        b"{}",
        b'{"version": 2, "files": {}}',
        b'{"version": 1, "files": []}',
        b'{"version": 1, "files": {"a": [1]}}',
        b'{"version": 1, "files": {"a": [{"source": 1, "target": "", "context": "", "count": 1}]}}',
        b'{"version": 1, "files": {"a": [{"source": "", "target": "", "context": "", "count": "1"}]}}',
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("update", [[], ["--update-baseline"]])
def test_a_damaged_baseline_is_one_sentence_and_stays_as_it_is(check, project, content, update):
    (project / "known.json").write_bytes(content)
    result = check("docs", *BASELINE, *update)
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "nmspeller: known.json is damaged or not a baseline; "
        "restore it, or delete it and write it with --update-baseline.\n"
    )
    assert (project / "known.json").read_bytes() == content


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["a.md", "--baseline", "none.json"], "none.json does not exist; write it with --update-baseline."),
        (["a.md", "--baseline", "."], ". is a folder."),
        (["a.md", "--update-baseline"], "--update-baseline needs --baseline."),
        (["-", "--baseline", "known.json"], "--baseline cannot be used with -."),
        (["--text", "我门", "--baseline", "known.json"], "--baseline cannot be used with --text."),
        (["a.md", *BASELINE, "--update-baseline", "--fix"], "--update-baseline cannot be used with --fix."),
        (
            ["a.md", *BASELINE, "--update-baseline", "-o", "json"],
            "--update-baseline cannot be used with --output-format.",
        ),
        (["a.md", "--baseline", "no/such.json", "--update-baseline"], "no/such.json cannot be used"),
    ],
)
def test_wrong_use_is_one_sentence(check, tmp_path, arguments, sentence):
    (tmp_path / "a.md").write_text("我门\n")
    result = check(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"nmspeller: {sentence}")
    assert result.err.count("\n") == 1


def test_an_input_that_cannot_be_checked_keeps_its_entries(check, project):
    (project / "docs" / "b.md").write_bytes(b"\xff\xff\xff\x00\x81")
    result = check("docs", *BASELINE, "--update-baseline")
    assert result.code == 2
    assert "Wrote 6 findings to known.json." in result.err


WORDS = st.sampled_from(
    ["我门", "天汽", "公圆", "借少", "很好", "，", "。", "\n", *string.ascii_lowercase[:3]]
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORDS, max_size=40), st.lists(WORDS, max_size=40))
def test_no_finding_is_hidden_that_was_not_known(tmp_path, before, after):
    speller, path = ScriptedSpeller(), tmp_path / "a.txt"
    path.write_text("")
    old, new = "".join(before), "".join(after)
    written = Baseline(tmp_path / "known.json", {})
    old_edits, new_edits = speller.edits(old), speller.edits(new)
    written.set(path, old, old_edits)
    written.write()
    baseline = Baseline.read(tmp_path / "known.json")
    assert baseline.unknown(path, old, old_edits) == []
    baseline.mark_checked(path)
    assert baseline.removable == 0
    baseline = Baseline.read(tmp_path / "known.json")
    unknown = baseline.unknown(path, new, new_edits)
    baseline.mark_checked(path)
    assert len(unknown) + baseline.known == len(new_edits)
    assert baseline.known + baseline.removable == len(old_edits)
    for pair in {(edit.source, edit.target) for edit in new_edits}:
        have, had, told = (
            sum((edit.source, edit.target) == pair for edit in edits)
            for edits in (new_edits, old_edits, unknown)
        )
        assert told >= have - had
