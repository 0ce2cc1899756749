"""Hints: what a rule doubts is reported, but never corrected, and the exit code does not depend on it."""

import json

import pytest

HINTED = "张琳说他不来。\n\n我很好。\n"
DOUBT = "The text also has a name with the same sound but another character; check which one is right."


@pytest.fixture
def hinted(check, speller, tmp_path):
    """Check a file that has a hint, and perhaps an error, by a rule."""

    def run(*arguments, text=HINTED):
        (tmp_path / "a.md").write_text(text)
        return check("a.md", *arguments)

    return run


def test_hints_are_printed_and_the_exit_code_is_that_of_a_clean_text(hinted):
    result = hinted()
    assert result.out == f"a.md:1:1: hint: 张琳 ({DOUBT})\n"
    assert result.code == 0


def test_hints_come_after_the_findings(hinted):
    result = hinted(text="我门去找张琳。")
    assert result.out.splitlines() == [
        "a.md:1:2: 门 → 们 (same sound, 0.99)",
        f"a.md:1:5: hint: 张琳 ({DOUBT})",
    ]
    assert result.code == 1


def test_fix_leaves_them_alone(hinted, tmp_path):
    assert hinted("--fix").code == 0
    assert (tmp_path / "a.md").read_text() == HINTED
    assert hinted("--fix", text="我门去找张琳。").code == 1
    assert (tmp_path / "a.md").read_text() == "我们去找张琳。"


def test_programs_get_them_beside_the_edits(hinted):
    document = json.loads(hinted("-o", "json").out)
    assert document["edits"] == []
    assert document["hints"] == [
        {"offset": 0, "length": 2, "source": "张琳", "rule": "name_variants", "note": None}
    ]
    assert hinted("-o", "diff").out == ""
    annotation = hinted("-o", "github").out
    assert annotation.startswith("::notice file=a.md,line=1,col=1,endColumn=3,title=nmspeller::张琳")


def test_sarif_has_them_as_notes_without_a_fix(hinted):
    (run,) = json.loads(hinted("-o", "sarif").out)["runs"]
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("name_variants", "note")
    assert "fixes" not in result
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 3}
    assert "name_variants" in {rule["id"] for rule in run["tool"]["driver"]["rules"]}


def test_the_terminal_shows_them_and_counts_no_error(hinted):
    output = hinted("-o", "terminal").out
    assert output.splitlines() == ["a.md", f"  1:1  张琳  {DOUBT}", "", "No findings in 1 file."]


def test_a_hint_over_markup_has_the_place_of_both_halves(hinted):
    document = json.loads(hinted("-o", "json", text="今天**张**琳说好。").out)
    (hint,) = document["hints"]
    assert (hint["offset"], hint["length"], hint["source"]) == (4, 4, "张**琳")


def test_rules_read_all_passages_of_a_document_at_once(hinted, speller):
    hinted()
    assert speller.documents == [["张琳说他不来。", "我很好。"]]


def test_rules_are_chosen_by_the_settings_file_and_by_options(check, speller, tmp_path):
    (tmp_path / "a.txt").write_text("我门")
    for setting, chosen in (
        ("true", True),
        ("false", False),
        ('["idiom"]', ("idiom",)),
        (None, ("spelling",)),
    ):
        (tmp_path / ".nmspeller.toml").write_text(f"rules = {setting}\n" if setting else "")
        for arguments, used in (
            ((), chosen),
            (("--rules", "typography"), ("typography",)),
            (("--no-rules",), ()),
        ):
            from nmspeller.apps.project import config

            config.forget()
            assert check("a.txt", *arguments).code == 1
            assert speller.rules == used


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("1", "rules must be true, false or a list of rule ids."),
        ('"idiom"', "rules must be true, false or a list of rule ids."),
        ("[1]", "rules must be true, false or a list of rule ids."),
        ('["grammar"]', "there is no rule 'grammar'; choose among spelling"),
    ],
)
def test_wrong_rules_in_the_settings_file_are_an_error(check, tmp_path, setting, sentence):
    (tmp_path / ".nmspeller.toml").write_text(f"rules = {setting}\n")
    (tmp_path / "a.txt").write_text("我门")
    result = check("a.txt")
    assert result.code == 2
    assert sentence in result.err
    assert ".nmspeller.toml" in result.err
