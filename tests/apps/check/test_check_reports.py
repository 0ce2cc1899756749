"""The forms in which findings are reported."""

import io
import json
import re

from rich.console import Console

from nmspeller.apps.documents.document import from_text
from nmspeller.apps.reports.terminal import TerminalReport


def terminal_output(speller, text, width=60, **options):
    from nmspeller.apps.documents import document as documents

    document = from_text(text, "a.txt")
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


def test_the_terminal_says_when_nothing_was_found(speller):
    assert plainly(terminal_output(speller, "很好。")) == "No findings in 1 file.\n"


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


def test_github_annotations_escape_what_they_must(check, tmp_path):
    (tmp_path / "a,b%.txt").write_text("好\n我门")
    result = check("-o", "github", "a,b%.txt")
    assert result.out == (
        "::warning file=a%2Cb%25.txt,line=2,col=2,endColumn=3,title=nmspeller::门 → 们 (same sound, 0.99)\n"
    )
    assert result.code == 1


def test_sarif_names_rule_place_and_fix(check, tmp_path):
    (tmp_path / "文 件.md").write_text("# 好\n\n😀借少\n")
    result = check("-o", "sarif", ".")
    log = json.loads(result.out)
    (run,) = log["runs"]
    (finding,) = run["results"]
    place = finding["locations"][0]["physicalLocation"]
    assert log["version"] == "2.1.0"
    assert run["columnKind"] == "unicodeCodePoints"
    assert place["artifactLocation"]["uri"] == "%E6%96%87%20%E4%BB%B6.md"
    assert place["region"] == {"startLine": 3, "startColumn": 2, "endLine": 3, "endColumn": 4}
    assert finding["ruleId"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    (change,) = finding["fixes"][0]["artifactChanges"][0]["replacements"]
    assert change["insertedContent"]["text"] == "介绍"


def test_sarif_without_findings_is_still_a_log(check):
    assert json.loads(check("-o", "sarif", "--text", "好").out)["runs"][0]["results"] == []
