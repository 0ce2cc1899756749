"""The forms in which findings are reported."""

import io
import json
import os
import re

import docx
import pytest
from rich.console import Console

from nmspeller.apps.documents.document import from_text
from nmspeller.apps.reports.findings import findings
from nmspeller.apps.reports.lines import github, plain
from nmspeller.apps.reports.sarif import SarifReport
from nmspeller.apps.reports.terminal import TerminalReport
from nmspeller.runtime.correction import Correction, apply_edits
from nmspeller.runtime.findings import Edit, Hint, Reason
from nmspeller.runtime.rules import RULES


def terminal_output(speller, text, width=60, name="a.txt", **options):
    from nmspeller.apps.documents import document as documents

    document = from_text(text, name)
    stream = io.StringIO()
    console = Console(
        file=stream, width=width, force_terminal=True, color_system="standard", legacy_windows=False
    )
    report = TerminalReport(console=console, **options)
    report.show(document, documents.check(speller, document))
    report.finish()
    return stream.getvalue()


def plainly(text):
    return re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", text)


def test_the_terminal_shows_each_line_before_and_after(speller):
    output = terminal_output(speller, "很好。\n我门去公圆。\n")
    assert plainly(output).splitlines() == [
        "a.txt",
        "  2 - 我门去公圆。",
        "    + 我们去公园。",
        "      2:2  门 → 们  same sound  0.99",
        "      2:5  圆 → 园  same sound  0.91",
        "",
        "2 errors found in 1 file.",
    ]
    assert "\x1b[1;31m门" in output
    assert "\x1b[1;32m们" in output


def test_the_terminal_report_mentions_that_nothing_was_found(speller):
    assert plainly(terminal_output(speller, "很好。")) == "No findings in 1 file.\n"


@pytest.mark.skipif(os.name == "nt", reason="no file name has a line break there")
def test_a_line_break_in_a_file_name_does_not_split_a_line(check, tmp_path):
    (tmp_path / "第一\n第二\r.txt").write_text("我门", encoding="utf-8")
    assert (
        check("--output-format", "plain", ".").out
        == r"第一\n第二\r.txt:1:2: 门 → 们 (same sound, 0.99)" + "\n"
    )


def test_a_long_line_is_cut_to_the_width_around_its_findings(speller):
    line = "很好很好" * 40 + "我门" + "不错不错" * 40 + "天汽"
    output = plainly(terminal_output(speller, line, width=50))
    shown = [row for row in output.splitlines() if " - " in row]
    assert len(shown) == 2
    assert "我门不错" in shown[0]
    assert shown[1].endswith("天汽")
    from rich.cells import cell_len

    assert max(map(cell_len, output.splitlines())) <= 50


def test_control_characters_do_not_reach_the_terminal(speller):
    assert "\x1b[2J" not in terminal_output(speller, "我门\x1b[2J\x07好")
    assert "\x1b[2J" not in terminal_output(speller, "我门", name="\x1b[2J.txt")


def test_github_annotations_escape_what_they_must(check, tmp_path):
    (tmp_path / "a,b%.txt").write_text("好\n我门")
    result = check("-o", "github", "a,b%.txt")
    assert result.out == (
        "::warning file=a%2Cb%25.txt,line=2,col=2,endColumn=3,title=nmspeller::门 → 们 (same sound, 0.99)\n"
    )
    assert result.code == 1


_URI = re.compile(r"(?:file:///)?(?!/)(?:[\w.~/-]|%[\dA-F]{2})+", re.ASCII)


def sarif(check, *arguments):
    """The only run of a log, after a look at what GitHub's code scanning asks of every log."""
    log = json.loads(check("-o", "sarif", *arguments).out)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "nmspeller"
    for rule in driver["rules"]:
        assert all(rule[part]["text"] for part in ("shortDescription", "fullDescription", "help"))
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(set(rules)) == len(rules) == len(Reason) - 1
    for result in run["results"]:
        assert result["ruleId"] in rules
        assert result["level"] == "warning"
        assert result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert _URI.fullmatch(place["artifactLocation"]["uri"])
        region = place["region"]
        assert (region["startLine"], region["startColumn"]) >= (1, 1)
        assert (region["endLine"], region["endColumn"]) > (region["startLine"], region["startColumn"])
    return run


def place_of(result):
    return result["locations"][0]["physicalLocation"]


def fixed_as_sarif_says(text, run):
    """What a program makes of a text that knows nothing of it but the log."""
    assert run["columnKind"] == "utf16CodeUnits"
    line_end = "|".join(map(re.escape, run["newlineSequences"]))
    starts = [0, *(found.end() for found in re.finditer(line_end, text))]
    for result in reversed(run["results"]):
        (fix,) = result["fixes"]
        (of_file,) = fix["artifactChanges"]
        (change,) = of_file["replacements"]
        assert of_file["artifactLocation"] == place_of(result)["artifactLocation"]
        region = change["deletedRegion"]
        assert region == place_of(result)["region"]
        before, rest = text[: starts[region["startLine"] - 1]], text[starts[region["startLine"] - 1] :]
        units = rest.encode("utf-16-le")
        first, last = (2 * (region[column] - 1) for column in ("startColumn", "endColumn"))
        changed = units[:first] + change["insertedContent"]["text"].encode("utf-16-le") + units[last:]
        text = before + changed.decode("utf-16-le")
    return text


def test_sarif_names_rule_place_and_fix(check, tmp_path):
    (tmp_path / "a.md").write_text("# 好\n\n😀借少\n")
    (result,) = sarif(check, ".")["results"]
    assert result["ruleId"] == "same_sound"
    assert place_of(result)["region"] == {"startLine": 3, "startColumn": 3, "endLine": 3, "endColumn": 5}


def test_sarif_fixes_are_those_of_the_speller(check, tmp_path):
    text = "好𠮷我门，天汽😀公圆\r\n\r他门\n\n😀😀借少𠮷我门"
    (tmp_path / "a.txt").write_bytes(text.encode())
    fixed = fixed_as_sarif_says(text, sarif(check, "a.txt"))
    assert fixed == "好𠮷我们，天气😀公园\r\n\r他们\n\n😀😀介绍𠮷我们"
    check("--fix", "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == fixed.encode()


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("文档/文 件.md", "%E6%96%87%E6%A1%A3/%E6%96%87%20%E4%BB%B6.md"),
        ("a:b%20#c?.txt", "a%3Ab%2520%23c%3F.txt"),
        ("a\\b.txt", "a%5Cb.txt"),
        (os.fsdecode(b"\xff.txt"), "%FF.txt"),
    ],
)
def test_sarif_finds_files_whatever_their_names(check, tmp_path, name, uri):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("我门")
    (result,) = sarif(check, ".")["results"]
    assert place_of(result)["artifactLocation"] == {"uri": uri}
    (result,) = sarif(check, path)["results"]
    assert place_of(result)["artifactLocation"] == {"uri": f"{tmp_path.as_uri()}/{uri}"}


def test_sarif_has_no_fix_for_what_is_no_text(check, tmp_path):
    document = docx.Document()
    document.add_paragraph("我门")
    document.save(tmp_path / "a.docx")
    (result,) = sarif(check, "a.docx")["results"]
    assert "fixes" not in result


def test_sarif_without_findings_is_still_a_log(check):
    assert sarif(check, "--text", "好")["results"] == []


def by_rule(offset, source, target, rule):
    return Edit(offset, len(source), source, target, 1.0, (), Reason.RULE, rule=rule)


def test_what_a_rule_deletes_or_inserts_is_visible_and_the_rule_is_named():
    text = "我的的书，词 语，用Go写。"
    edits = [
        by_rule(2, "的", "", "doubled_character"),
        by_rule(6, " ", "", "space_between_hanzi"),
        by_rule(10, "", " ", "mixed_spacing"),
    ]
    correction = Correction(text, apply_edits(text, edits), tuple(edits))
    assert [one.summary for one in findings(correction)] == [
        f"的 → ∅ ({RULES['doubled_character'].name}, 1.00)",
        f"␣ → ∅ ({RULES['space_between_hanzi'].name}, 1.00)",
        f"∅ → ␣ ({RULES['mixed_spacing'].name}, 1.00)",
    ]


def test_a_hint_over_two_lines_is_one_line_of_a_report(capsys):
    text = "他来了，\n。我们走。\n"
    hint = Hint(3, 3, "，\n。", "doubled_punctuation")
    document = from_text(text, "a.md", "markdown")
    correction = Correction(text, text, (), (hint,))
    [line] = plain(document, correction, explain=False)
    assert line.startswith("a.md:1:4: hint: ，↵。 (")
    [line] = github(document, correction, explain=False)
    assert "line=1,col=4,endColumn=5" in line
    report = SarifReport()
    report.show(document, correction)
    report.finish()
    [result] = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 1, "startColumn": 4, "endLine": 1, "endColumn": 5}


def test_a_folder_with_nothing_to_check_is_not_passed_over_in_silence(check, tmp_path):
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "a.py").write_text("# 我门")
    result = check("programs")
    assert (result.code, result.out) == (0, "")
    assert "nothing to check" in result.err


ESCAPED = '{"a": "\\ud83d\\ude00\\u6211\\u95e8"}\n'  # 😀 is no Chinese, and stays an escape


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["-o", "plain"], "a.json:1:26: 门"),
        (["-o", "github"], "line=1,col=26,endColumn=32"),
        (["-o", "terminal"], "1:26"),
        (["-o", "sarif"], '"startColumn": 26'),
    ],
)
def test_columns_are_those_of_the_file_also_after_escapes(check, tmp_path, arguments, shown):
    (tmp_path / "a.json").write_text(ESCAPED)
    assert shown in check("a.json", *arguments).out
