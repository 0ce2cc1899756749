"""Rules beside the model: both see the same sentence, and neither hides what the other finds."""

import json

import pytest
from scripted_speller import KNOWN

BOTH = ("--rules", "spelling,typography")
TEXT = "我很高心。。他门走了。\n"
RIGHT = "我很高兴。他们走了。\n"


@pytest.fixture(autouse=True)
def letter(tmp_path, monkeypatch):
    """A file in which a rule's finding stands right behind one of the model."""
    monkeypatch.setitem(KNOWN, "高心", ("高兴", 0.96))
    file = tmp_path / "a.txt"
    file.write_text(TEXT, "utf-8")
    return file


def test_neighbours_are_findings_of_their_own(check):
    assert check(*BOTH, "a.txt").out.splitlines() == [
        "a.txt:1:4: 心 → 兴 (similar sound, 0.96)",
        "a.txt:1:5: 。。 → 。 (Doubled punctuation, 1.00)",
        "a.txt:1:8: 门 → 们 (same sound, 0.98)",
    ]


def test_programs_get_both_and_the_text_with_both(check):
    document = json.loads(check(*BOTH, "-o", "json", "a.txt").out)
    assert [(edit["source"], edit["reason"], edit["rule"]) for edit in document["edits"]] == [
        ("心", "similar_sound", None),
        ("。。", "rule", "doubled_punctuation"),
        ("门", "same_sound", None),
    ]
    assert document["corrected"] == RIGHT
    (run,) = json.loads(check(*BOTH, "-o", "sarif", "a.txt").out)["runs"]
    assert [one["ruleId"] for one in run["results"]] == ["similar_sound", "doubled_punctuation", "same_sound"]
    assert {one["ruleId"] for one in run["results"]} <= {
        rule["id"] for rule in run["tool"]["driver"]["rules"]
    }


def test_by_default_the_model_reads_the_text_as_if_mended_and_nothing_else_is_reported(check, speller):
    assert [line.split(" (")[0] for line in check("a.txt").out.splitlines()] == [
        "a.txt:1:4: 心 → 兴",
        "a.txt:1:8: 门 → 们",
    ]
    assert speller.calls[-1][0] == ["我很高心。他门走了。"]


@pytest.mark.parametrize(
    ("rules", "right"),
    [((), RIGHT.replace("。他", "。。他")), (BOTH, RIGHT)],
    ids=["without", "with"],
)
def test_what_is_fixed_once_stays_as_it_is(check, letter, rules, right):
    assert check("--fix", *rules, "a.txt").code == 1
    assert letter.read_text("utf-8") == right
    again = check("--fix", *rules, "a.txt")
    assert (again.code, again.out, again.err) == (0, "", "")
    assert letter.read_text("utf-8") == right


def test_the_model_leaves_alone_what_a_rule_has_written(check, letter, monkeypatch):
    letter.write_text("他做事按步就班。", "utf-8")
    for wrong, other in (("按步", "安步"), ("按部", "安部")):
        monkeypatch.setitem(KNOWN, wrong, (other, 0.9))
    found = check("a.txt").out
    assert found == "a.txt:1:4: 按步就班 → 按部就班 (Idiom with a wrong character, 1.00)\n"
    assert check("--no-rules", "a.txt").out.startswith("a.txt:1:4: 按 → 安")


@pytest.mark.parametrize(
    ("names", "rules"),
    [
        ("idiom", ["idiom"]),
        ("typography", ["doubled_punctuation"]),
        ("idiom, typography", ["idiom", "doubled_punctuation"]),
    ],
)
def test_rules_are_chosen_by_ids_and_groups(check, letter, names, rules):
    letter.write_text("他做事按步就班。。我看到了了它。", "utf-8")
    document = json.loads(check("--rules", names, "-o", "json", "a.txt").out)
    assert [edit["rule"] for edit in document["edits"]] == rules


def test_wrong_choices_of_rules_are_told(check):
    result = check("--rules", "idiom,grammar", "a.txt")
    assert result.code == 2
    assert "there is no rule 'grammar'; choose among spelling, typography, idiom" in result.err
    assert "there is no rule 'a.txt'" in check("--rules", "a.txt").err
    assert "--rules cannot be used with --no-rules" in check("--rules", "idiom", "--no-rules", "a.txt").err
