"""Word documents: prose of all parts is read, edits land in their runs, all else stays."""

import io
import zipfile

import docx
import pytest
from docx.shared import RGBColor
from word_files import package

from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.apps.documents.xml_events import events
from nmspeller.errors import InputError
from nmspeller.runtime.findings import Edit, Reason


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


def rewritten(raw, change, rename=str):
    """The same package with other content, `change(member, content)`, and other names for its members."""
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(output, "w") as new:
        for member in old.namelist():
            new.writestr(rename(member), change(member, old.read(member)))
    return output.getvalue()


def changed_members(before, after):
    with zipfile.ZipFile(io.BytesIO(before)) as old, zipfile.ZipFile(io.BytesIO(after)) as new:
        return [name for name in old.namelist() if old.read(name) != new.read(name)]


def test_the_package_names_its_main_part(raw):
    def renamed_in(member, content):
        is_directory = member in ("[Content_Types].xml", "_rels/.rels")
        return content.replace(b"word/document.xml", b"word/document2.xml") if is_directory else content

    renamed = rewritten(raw, renamed_in, lambda member: member.replace("document.xml", "document2.xml"))
    document = DocxDocument.parse(renamed, "a.docx")
    assert document.text == DocxDocument.parse(raw, "a.docx").text
    corrected = document.with_edits([edit(document.text, "门", "们")])
    assert docx.Document(io.BytesIO(corrected)).paragraphs[0].text == "我们的标题"
    assert changed_members(renamed, corrected) == ["word/document2.xml"]


@pytest.mark.parametrize("target", ["../NULL", "#书签", ""])
@pytest.mark.parametrize("kind", ["image", "header"])
def test_references_to_what_is_not_there_are_passed_over(raw, kind, target):
    reference = f'<Relationship Id="rId99" Type="http://a/relationships/{kind}" Target="{target}"/>'.encode()

    def with_reference(member, content):
        return content.replace(b"</Relationships>", reference + b"</Relationships>")

    damaged = rewritten(raw, with_reference)
    assert len(changed_members(raw, damaged)) > 1
    document = DocxDocument.parse(damaged, "a.docx")
    assert document.text == DocxDocument.parse(raw, "a.docx").text
    corrected = document.with_edits([edit(document.text, "门", "们")])
    assert changed_members(damaged, corrected) == ["word/document.xml"]


def test_a_document_of_the_strict_dialect_is_read(raw):
    def in_strict_terms(member, content):
        content = content.replace(
            b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
            b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        )
        return content.replace(
            b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
            b"http://purl.oclc.org/ooxml/wordprocessingml/main",
        )

    strict = DocxDocument.parse(rewritten(raw, in_strict_terms), "a.docx")
    assert strict.text == DocxDocument.parse(raw, "a.docx").text


def test_a_package_of_another_program_is_rejected(raw):
    def of_a_spreadsheet(member, content):
        return b"<workbook/>" if member == "word/document.xml" else content

    with pytest.raises(InputError, match=r"^a\.docx is not a Word document\.$"):
        DocxDocument.parse(rewritten(raw, of_a_spreadsheet), "a.docx")


def test_a_damaged_member_is_rejected_before_anything_is_checked(raw):
    package = io.BytesIO(raw)
    with zipfile.ZipFile(package, "a") as archive:
        archive.writestr("extra.bin", b"0123456789")
    damaged = package.getvalue().replace(b"0123456789", b"0123456780")
    with pytest.raises(InputError, match=r"extra\.bin is damaged"):
        DocxDocument.parse(damaged, "a.docx")


def test_white_space_and_notes_around_the_text_stay(raw):
    def pretty(member, content):
        if member != "word/document.xml":
            return content
        head, root, rest = content.partition(b"<w:document")
        return head + b"<?by someone?><!-- note -->" + root + rest.replace(b"<w:p>", b"\n  <w:p>")

    printed = io.BytesIO(rewritten(raw, pretty))
    with zipfile.ZipFile(printed, "a") as archive:
        archive.comment = "注".encode()
    document = DocxDocument.parse(printed.getvalue(), "a.docx")
    corrected = document.with_edits([edit(document.text, "门", "们")])
    with zipfile.ZipFile(printed) as old, zipfile.ZipFile(io.BytesIO(corrected)) as new:
        before, after = (archive.read("word/document.xml").decode() for archive in (old, new))
        assert new.comment == "注".encode()
    assert before.replace("我门", "我们") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<w:t>\n  我门 &amp; 他 \t</w:t>", "<w:t>\n  我们 &amp; 他 \t</w:t>"),
        ('<w:t xml:space="preserve"> 我门 </w:t>', '<w:t xml:space="preserve"> 我们 </w:t>'),
        ("<w:t>我<!-- 注 -->门</w:t>", "<w:t>我<!-- 注 -->们</w:t>"),
        ("<w:t>我<?注?>门</w:t>", "<w:t>我<?注?>们</w:t>"),
        ("<w:t>我<![CDATA[门&]]></w:t>", "<w:t>我<![CDATA[们&]]></w:t>"),
    ],
)
def test_blanks_around_a_text_and_notes_inside_it_stay(before, after):
    raw = package(f"<w:p><w:r>{before}</w:r></w:p>")
    document = DocxDocument.parse(raw, "a.docx")
    corrected = document.with_edits([edit(document.text, "我门", "我们")])
    with zipfile.ZipFile(io.BytesIO(corrected)) as archive:
        assert f"<w:r>{after}</w:r>" in archive.read("word/document.xml").decode()


def test_blanks_that_an_edit_puts_at_the_end_are_shown_without_those_that_were_not():
    document = DocxDocument.parse(package("<w:p><w:r><w:t> 我门\n</w:t></w:r></w:p>"), "a.docx")
    corrected = document.with_edits([edit(document.text, "门", "们 ")])
    assert DocxDocument.parse(corrected, "a.docx").text.strip("\n") == "我们 "


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


def test_what_xml_cannot_hold_is_rejected(raw):
    document = DocxDocument.parse(raw, "a.docx")
    with pytest.raises(InputError, match=r"a\.docx: '左\\x0b格' cannot be written"):
        document.with_edits([edit(document.text, "左格", "左\v格")])


def test_an_archive_that_was_written_as_a_stream(raw):
    class Pipe(io.RawIOBase):
        """A stream without a way back: sizes come after the content of each member."""

        written = b""

        def writable(self):
            return True

        def write(self, content):
            self.written += bytes(content)
            return len(content)

    pipe = Pipe()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member, old.read(member))
    document = DocxDocument.parse(pipe.written, "a.docx")
    assert document.with_edits([]) == pipe.written
    corrected = document.with_edits([edit(document.text, "门", "们")])
    assert changed_members(pipe.written, corrected) == ["word/document.xml"]
    assert docx.Document(io.BytesIO(corrected)).paragraphs[0].text == "我们的标题"


@pytest.mark.parametrize(
    ("start", "end", "problem"),
    [
        ('<!DOCTYPE w [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>', "", "document type declaration"),
        ("", "<w:p>" * 300 + "</w:p>" * 300, "nested too deeply"),
        ("", "<w:p/>" * 5_000, "too many elements"),
    ],
)
def test_attacks_by_xml(raw, start, end, problem, monkeypatch):
    monkeypatch.setattr("nmspeller.apps.documents.xml_events.MOST_TAGS", 5_000)

    def attacked(member, content):
        if member != "word/document.xml":
            return content
        content = content.replace(b"<w:document", start.encode() + b"<w:document", 1)
        return content.replace(b"<w:body>", b"<w:body>" + end.encode())

    with pytest.raises(InputError, match=problem):
        DocxDocument.parse(rewritten(raw, attacked), "a.docx")


def test_elements_are_counted_before_they_are_read(monkeypatch):
    monkeypatch.setattr("xml.parsers.expat.ParserCreate", None)
    with pytest.raises(ValueError, match="too many elements"):
        next(events(b"<a>" + b"<b/>" * 1_000_000 + b"</a>"))


def test_the_elements_of_all_parts_count_together(monkeypatch):
    monkeypatch.setattr("nmspeller.apps.documents.package.MOST_TAGS", 5_000)
    parts = dict.fromkeys(("header", "footer"), "<w:p/>" * 3_000)
    assert DocxDocument.parse(package("", other={"header": parts["header"]}), "a.docx").text == ""
    with pytest.raises(InputError, match="too many elements"):
        DocxDocument.parse(package("", other=parts), "a.docx")


def test_a_text_of_a_million_entities_takes_no_time(raw):
    def long(member, content):
        return content.replace("我门".encode(), b"&amp;" * 1_000_000 + "我门".encode())

    document = DocxDocument.parse(rewritten(raw, long), "a.docx")
    assert document.text.startswith("&" * 1_000_000 + "我门的")
