"""Word documents: prose of all parts is read, edits land in their runs, all else stays."""

import io
import zipfile

import docx
import pytest
from docx.shared import RGBColor

from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.runtime.correction import Edit, Reason


@pytest.fixture
def raw():
    document = docx.Document()
    document.add_heading("我门的标题")
    paragraph = document.add_paragraph("请你")
    run = paragraph.add_run("借")
    run.bold = True
    paragraph.add_run("少一下\t然后\n换行")
    run.font.color.rgb = RGBColor(255, 0, 0)
    document.add_paragraph("")
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "左格"
    table.cell(0, 1).text = "右格"
    document.sections[0].header.paragraphs[0].text = "页眉"
    document.sections[0].footer.paragraphs[0].text = "页脚"
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


def edit(text, wrong, right):
    return Edit(text.index(wrong), len(wrong), wrong, right, 0.9, (), Reason.SAME_SOUND)


def test_all_prose_is_read_a_paragraph_a_line(raw):
    document = DocxDocument.parse(raw, "a.docx")
    assert document.text.split("\n") == [
        "我门的标题", "请你借少一下\t然后", "换行", "左格", "右格", "页眉", "页脚", ""
    ]  # fmt: skip


def test_an_edit_over_two_runs_keeps_both(raw):
    document = DocxDocument.parse(raw, "a.docx")
    edits = [
        edit(document.text, "门", "们"),
        edit(document.text, "借少", "介绍"),
        edit(document.text, "页脚", "叶角"),
    ]
    corrected = document.with_edits(edits)
    again = docx.Document(io.BytesIO(corrected))
    assert again.paragraphs[0].text == "我们的标题"
    assert [run.text for run in again.paragraphs[1].runs] == ["请你", "介", "绍一下\t然后\n换行"]
    assert again.paragraphs[1].runs[1].bold
    assert again.sections[0].footer.paragraphs[0].text == "叶角"
    assert document.with_edits(edits) == corrected


def test_longer_and_shorter_replacements(raw):
    document = DocxDocument.parse(raw, "a.docx")
    corrected = document.with_edits(
        [edit(document.text, "借少", "介绍绍"), edit(document.text, "左格", "左")]
    )
    again = docx.Document(io.BytesIO(corrected))
    assert again.paragraphs[1].text == "请你介绍绍一下\t然后\n换行"
    assert again.tables[0].cell(0, 0).text == "左"


def test_every_other_part_stays_as_it_was_to_the_byte(raw):
    document = DocxDocument.parse(raw, "a.docx")
    corrected = document.with_edits([edit(document.text, "门", "们")])
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(io.BytesIO(corrected)) as new:
        assert old.namelist() == new.namelist()
        changed = [name for name in old.namelist() if old.read(name) != new.read(name)]
        assert changed == ["word/document.xml"]
        before, after = old.read("word/document.xml").decode(), new.read("word/document.xml").decode()
    assert before.replace("我门的标题", "我们的标题") == after


def test_deleted_text_and_field_codes_are_no_prose():
    document = docx.Document()
    paragraph = document.add_paragraph("留下")
    for name, text in (("delText", "删去"), ("instrText", "域码")):
        run = paragraph.add_run()
        element = docx.oxml.OxmlElement(f"w:{name}")
        element.text = text
        run._r.append(element)
    output = io.BytesIO()
    document.save(output)
    assert DocxDocument.parse(output.getvalue(), "a.docx").text.strip() == "留下"


def test_a_text_box_inside_a_paragraph_is_a_paragraph_of_its_own():
    document = docx.Document()
    paragraph = document.add_paragraph("前面")
    holder = paragraph.add_run()._r
    box = docx.oxml.OxmlElement("w:txbxContent")
    inner = docx.oxml.OxmlElement("w:p")
    run = docx.oxml.OxmlElement("w:r")
    text = docx.oxml.OxmlElement("w:t")
    text.text = "框内"
    run.append(text)
    inner.append(run)
    box.append(inner)
    holder.append(box)
    paragraph.add_run("后面")
    output = io.BytesIO()
    document.save(output)
    assert DocxDocument.parse(output.getvalue(), "a.docx").text.split() == ["前面", "框内", "后面"]


def with_main_part_named(raw, name):
    """The same package with another name for `document.xml`, in every place that says it."""
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(output, "w") as new:
        for member in old.namelist():
            content = old.read(member)
            if member in ("[Content_Types].xml", "_rels/.rels"):
                content = content.replace(b"word/document.xml", f"word/{name}".encode())
            new.writestr(member.replace("document.xml", name), content)
    return output.getvalue()


def test_the_package_says_what_its_main_part_is_called(raw):
    renamed = with_main_part_named(raw, "document2.xml")
    document = DocxDocument.parse(renamed, "a.docx")
    assert document.text == DocxDocument.parse(raw, "a.docx").text
    corrected = document.with_edits([edit(document.text, "门", "们")])
    assert docx.Document(io.BytesIO(corrected)).paragraphs[0].text == "我们的标题"
    with zipfile.ZipFile(io.BytesIO(renamed)) as old, zipfile.ZipFile(io.BytesIO(corrected)) as new:
        changed = [name for name in old.namelist() if old.read(name) != new.read(name)]
    assert changed == ["word/document2.xml"]


def test_readings_and_what_was_moved_away_are_no_prose():
    document = docx.Document()
    paragraph = document.add_paragraph("留")
    for holder, text in (("rt", "流"), ("rubyBase", "下"), ("moveFrom", "移走"), ("moveTo", "来")):
        element = paragraph._p
        for name in (holder, "r", "t"):
            inner = docx.oxml.OxmlElement(f"w:{name}")
            element.append(inner)
            element = inner
        element.text = text
    output = io.BytesIO()
    document.save(output)
    assert DocxDocument.parse(output.getvalue(), "a.docx").text.strip() == "留下来"
