"""In LibreOffice, accepting all changes gives what `--fix` writes, and rejecting all gives the original."""

import io
import zipfile

import docx
import pytest
from docx.shared import RGBColor
from lxml import etree
from word_files import W, edit, shown

from nmspeller.apps.documents.docx import DocxDocument

FOOTNOTES = f"""<w:footnotes xmlns:w="{W}">
<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>
<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p>
</w:footnote>
<w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>脚注里他门说</w:t></w:r></w:p></w:footnote>
</w:footnotes>"""
TEXT_BOX = f"""<w:r xmlns:w="{W}"><w:pict>
<v:shape xmlns:v="urn:schemas-microsoft-com:vml" style="width:200pt;height:60pt"><v:textbox><w:txbxContent>
<w:p><w:r><w:t>框里天汽好</w:t></w:r></w:p>
</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"""
INSERTION = f"""<w:ins xmlns:w="{W}" w:id="90" w:author="编辑" w:date="2024-01-01T00:00:00Z">
<w:r><w:t>你门好</w:t></w:r></w:ins>"""
PAIRS = [
    "你门 你们",
    "我门 我们",
    "借少 介绍",
    "公圆 公园",
    "他门 他们",
    "天汽 天气",
    "她门 她们",
    "它门 它们",
]


@pytest.fixture(scope="module")
def raw():
    """A document with text in the body, a table, a header, a footer, a footnote, a text box and a comment."""
    document = docx.Document()
    document.add_heading("我门的标题")
    paragraph = document.add_paragraph("请你")
    run = paragraph.add_run("借")
    run.bold = True
    run.font.color.rgb = RGBColor(255, 0, 0)
    paragraph.add_run("少一下\t然后\n换行")
    paragraph._p.append(etree.fromstring(INSERTION))
    document.add_comment(paragraph.runs[0], "这条批注在先", author="编辑")
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "左格公圆"
    document.sections[0].header.paragraphs[0].text = "页眉她门"
    document.sections[0].footer.paragraphs[0].text = "页脚它门"
    boxed = document.add_paragraph("外面")
    boxed._p.append(etree.fromstring(TEXT_BOX))
    noted = document.add_paragraph("有脚注").add_run()
    noted._r.append(etree.fromstring(f'<w:footnoteReference xmlns:w="{W}" w:id="2"/>'))
    part = docx.opc.part.Part(
        docx.opc.packuri.PackURI("/word/footnotes.xml"),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml",
        FOOTNOTES.encode(),
        document.part.package,
    )
    document.part.relate_to(part, docx.opc.constants.RELATIONSHIP_TYPE.FOOTNOTES)
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


def lines(file):
    """The lines of all parts of a file that LibreOffice wrote."""
    with zipfile.ZipFile(file) as archive:
        parts = [name for name in archive.namelist() if name.startswith("word/") and name.count("/") == 1]
        return sorted(
            line
            for name in parts
            if name.endswith(".xml") and "comments" not in name
            for line in shown(etree.fromstring(archive.read(name)))
            if line.strip()
        )


def test_accepting_gives_the_correction_and_rejecting_the_original(raw, libreoffice, tmp_path):
    document = DocxDocument.parse(raw, "a.docx")
    edits = sorted((edit(document.text, *pair.split()) for pair in PAIRS), key=lambda one: one.offset)
    files = {
        "original": raw,
        "fixed": document.with_edits(edits),
        "tracked": document.with_edits(edits, track=True),
    }
    for name, content in files.items():
        (tmp_path / f"{name}.docx").write_bytes(content)

    def through(name, *commands):
        target = tmp_path / f"{'-'.join((name, *commands))}.saved.docx"
        return lines(libreoffice(tmp_path / f"{name}.docx", target, *commands))

    accept, reject = "AcceptAllTrackedChanges", "RejectAllTrackedChanges"
    assert through("tracked", accept) == through("fixed", accept)
    assert through("tracked", reject) == through("original", reject)
    assert through("tracked", accept) != through("original", accept)
    saved = libreoffice(tmp_path / "tracked.docx", tmp_path / "again.docx")
    comments = sorted((one.author, one.text) for one in docx.Document(saved).comments)
    assert comments[-1] == ("编辑", "这条批注在先")
    assert [author for author, _text in comments[:-1]] == ["nmspeller"] * 4
    assert all(text.endswith("Confidence 0.90.") for _author, text in comments[:-1])
