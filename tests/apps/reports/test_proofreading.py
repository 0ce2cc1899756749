"""Proofreading reports: what they say of each finding, in each of their formats."""

import csv
import io
import zipfile

import docx
import pytest
from lxml import etree, html

from nmspeller.apps.documents.document import from_bytes, from_text
from nmspeller.apps.reports import report
from nmspeller.apps.reports.proof import Proof, sentence, summary
from nmspeller.errors import InputError
from nmspeller.runtime.correction import Correction, apply_edits
from nmspeller.runtime.findings import Edit, Hint, Reason

TEXT = "很好。今天我门去<公园>。完\n=张琳来了\n"


def correction(text, hints=()):
    edits = [
        Edit(at, 1, "门", "们", 0.9, (), Reason.SAME_SOUND) for at, sign in enumerate(text) if sign == "门"
    ]
    return Correction(text, apply_edits(text, edits), tuple(edits), tuple(hints))


@pytest.fixture
def written(tmp_path):
    """The bytes of a report on a text with an error and a hint, and on one without."""

    def write(name):
        out = report(name, output=tmp_path / f"report.{name}")
        hint = Hint(TEXT.index("张琳"), 2, "张琳", "name_variants")
        out.show(from_text(TEXT, "甲<b>.txt"), correction(TEXT, [hint]))
        out.show(from_text("很好。", "乙.txt"), correction("很好。"))
        out.finish()
        return (tmp_path / f"report.{name}").read_bytes()

    return write


def test_the_page_has_each_finding_with_sentence_and_place(written):
    page = html.fromstring(written("html").decode())
    found = page.xpath("//table[@class='findings']/tbody/tr")
    rows = [[cell.text_content() for cell in row] for row in found]
    assert [row[:4] for row in rows] == [
        ["1", "line 1, column 7", "今天我门们去<公园>。", "门 → 们"],
        ["2", "line 2, column 2", "=张琳来了", "张琳"],
    ]
    assert rows[0][4].startswith("same sound")
    assert [one.text_content() for one in page.xpath("//h2")] == ["甲<b>.txt", "乙.txt"]
    assert not page.xpath("//script|//link|//img|//*[@src]|//b")


def test_the_word_document_has_the_same(written):
    document = docx.Document(io.BytesIO(written("docx")))
    figures, findings = document.tables
    assert [cell.text for cell in findings.rows[1].cells][:4] == [
        "1",
        "line 1, column 7",
        "今天我门们去<公园>。",
        "门 → 们",
    ]
    assert [cell.text for cell in figures.rows[3].cells] == ["Errors per 10,000 characters", "454.5"]
    with zipfile.ZipFile(io.BytesIO(written("docx"))) as archive:
        for name in archive.namelist():
            etree.fromstring(archive.read(name))


def test_the_table_is_for_spreadsheets(written):
    raw = written("csv")
    assert raw.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(raw.decode("utf-8-sig"))))
    assert rows[1][:6] == ["甲<b>.txt", "1", "line 1, column 7", "今天我门去<公园>。", "门", "们"]
    assert rows[2][3] == "'=张琳来了", "no formula"


def test_figures_count_the_kinds_of_errors():
    text = "门，门\n"
    proofs = [
        Proof.of(from_text(text, "甲"), correction(text)),
        Proof.of(from_text("好", "乙"), correction("好")),
    ]
    assert summary(proofs) == [
        ("Documents", "2"), ("Characters", "4"), ("Errors", "2"), ("Errors per 10,000 characters", "5000.0"),
        ("same sound", "2"),
    ]  # fmt: skip


def test_a_long_sentence_is_cut():
    text = "长" * 100 + "门" + "长" * 100
    before, wrong, after = sentence(text, 100, 101)
    assert (before[0], wrong, after[-1]) == ("…", "门", "…")
    assert len(before) == len(after) == 41


def test_control_characters_make_no_broken_document(tmp_path):
    text = "我门\x0b\x00\ufffe好"
    out = report("docx", output=tmp_path / "a.docx")
    out.show(from_text(text, "甲"), correction(text))
    out.finish()
    docx.Document(tmp_path / "a.docx")


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    out = report("html", output=tmp_path / "none" / "a.html")
    with pytest.raises(InputError, match="cannot be written"):
        out.finish()


def test_office_documents_have_places_that_a_person_finds(tmp_path, capsys):
    document = docx.Document()
    document.add_paragraph("第一段")
    document.add_table(1, 2).cell(0, 1).text = "表里我门"
    document.save(tmp_path / "a.docx")
    opened = from_bytes("a.docx", (tmp_path / "a.docx").read_bytes())
    found = correction(opened.text)
    for name in ("plain", "json", "sarif", "terminal", "github"):
        out = report(name)
        out.show(opened, found)
        out.finish()
        shown = capsys.readouterr().out
        if name == "json":
            assert '"place": {"table": 1, "row": 1, "cell": 2}' in shown
        else:
            assert "table 1, row 1, cell 2" in shown
        if name == "plain":
            assert shown == "a.docx: table 1, row 1, cell 2 “表里我门”: 门 → 们 (same sound, 1.00)\n"
        if name == "github":
            assert shown.startswith("::warning file=a.docx,title=nmspeller::a.docx: table 1")
