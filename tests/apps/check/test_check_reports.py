"""The forms in which findings are reported."""

import io
import json
import os
import re

import docx
import pytest
from rich.console import Console

from nmspeller.apps.documents.document import from_text
from nmspeller.apps.reports.terminal import TerminalReport
from nmspeller.runtime.correction import Reason


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
    assert len(set(rules)) == len(rules) == len(Reason)
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
    assert result["ruleId"] == "similar-sound"
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
