"""Excel workbooks and EPUB books: their texts are read, edits land in them, all else stays to the byte."""

import io
import zipfile

import pytest
from word_files import OFFICE, edit, package

from nmspeller.apps.documents.authors import edits_of_others
from nmspeller.apps.documents.document import from_bytes, require_tracking
from nmspeller.errors import InputError

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def archive(members):
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as file:
        for name, content in members.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            file.writestr(name, content, kind)
    return output.getvalue()


def members(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        return {name: file.read(name) for name in file.namelist()}


def relationships(*targets):
    return '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'.format(
        "".join(
            f'<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{target}"/>'
            for id, kind, target in targets
        )
    )


def workbook():
    return archive(
        {
            "_rels/.rels": relationships(("a", "officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>'
            '<sheet name="二" r:id="s2"/><sheet name="一" r:id="s1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relationships(
                ("s1", "worksheet", "worksheets/a.xml"),
                ("s2", "worksheet", "worksheets/b.xml"),
                ("x", "sharedStrings", "sharedStrings.xml"),
            ),
            "xl/sharedStrings.xml": f'<sst xmlns="{SHEET}"><si><t>我门去</t></si>'
            "<si><r><t>他</t></r><r><rPr/><t xml:space='preserve'>"
            "门 &amp; 她 </t></r><rPh><t>音</t></rPh></si>"
            "<si><t>门名</t></si><si><t>没用门</t></si></sst>",
            "xl/worksheets/a.xml": f'<worksheet xmlns="{SHEET}"><sheetData><row>'
            '<c r="A1" t="s"><v>0</v></c>'
            '<c r="B1" t="inlineStr"><is><t>自己的门</t></is></c>'
            '<c r="C1"><v>1</v></c></row></sheetData></worksheet>',
            "xl/worksheets/b.xml": f'<worksheet xmlns="{SHEET}"><sheetData><row>'
            '<c r="B3" t="s"><v>1</v></c>'
            '<c r="C3" t="s"><v>2</v></c><c r="D3" t="s"><v>0</v></c>'
            '<c r="E3" t="s"><v>99</v></c></row></sheetData></worksheet>',
            "xl/worksheets/_rels/b.xml.rels": relationships(
                ("t", "table", "../tables/t.xml"), ("c", "comments", "../comments1.xml")
            ),
            "xl/tables/t.xml": f'<table xmlns="{SHEET}"><tableColumns>'
            '<tableColumn name="门名"/></tableColumns></table>',
            "xl/comments1.xml": f'<comments xmlns="{SHEET}"><commentList>'
            '<comment ref="B3"><text><t>批注门</t></text>'
            "</comment></commentList></comments>",
            "xl/media/image1.png": b"\x89PNG" * 100,
        }
    )


def test_the_cells_of_a_workbook():
    document = from_bytes("a.xlsx", workbook())
    assert [one.text for one in document.passages] == ["他门 & 她", "我门去", "批注门", "自己的门"]
    assert document.place_of(document.text.index("他门") + 1).label == "sheet 二, at B3"
    assert document.place_of(document.text.index("批注")).label == "sheet 二, at B3, comment"
    assert document.place_of(document.text.index("自己")).as_json == {"sheet": "一", "address": "B1"}


def test_edits_of_a_workbook_change_these_texts_alone():
    raw = workbook()
    document = from_bytes("a.xlsm", raw)
    edits = [
        edit(document.text, "他门", "他们"),
        edit(document.text, "我门", "我们"),
        edit(document.text, "己的门", "己的们"),
    ]
    changed = members(document.with_edits(edits))
    expected = members(raw)
    for name, (before, after) in {
        "xl/sharedStrings.xml": ("门 &amp; 她 ", "们 &amp; 她 "),
        "xl/worksheets/a.xml": ("自己的门", "自己的们"),
    }.items():
        expected[name] = expected[name].replace(before.encode(), after.encode())
    expected["xl/sharedStrings.xml"] = expected["xl/sharedStrings.xml"].replace(
        "我门去".encode(), "我们去".encode()
    )
    assert changed == expected
    with pytest.raises(InputError, match="tracked"):
        require_tracking(document)


def book(page="<p>我<b>门</b>去&nbsp;公园 &amp; 家</p><p>他门 & 她</p>", encryption=""):
    head = (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml">'
    )
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            "<rootfiles>"
            '<rootfile full-path="OPS/book.opf" media-type="x"/></rootfiles></container>',
            **({"META-INF/encryption.xml": encryption} if encryption else {}),
            "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
            '<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
            '<item id="b" href="b%20.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="c" href="style.css" media-type="text/css"/></manifest>'
            '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
            "OPS/a.xhtml": f"{head}<body>{page}</body></html>",
            "OPS/b .xhtml": f"{head}<body><p>第二页</p></body></html>",
            "OPS/toc.ncx": '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><text>目录</text></ncx>',
            "OPS/style.css": "p { content: '样' }",
        }
    )


def test_the_pages_of_a_book():
    raw = book()
    document = from_bytes("a.epub", raw)
    assert [one.text for one in document.passages] == ["我门去公园  家", "他门 & 她", "第二页", "目录"]
    assert document.place_of(document.text.index("他门")).label == "file a.xhtml, paragraph 2"
    changed = members(
        document.with_edits([edit(document.text, "门去", "们去"), edit(document.text, "园", "圆")])
    )
    expected = members(raw)
    page = expected["OPS/a.xhtml"].decode().replace("<b>门</b>", "<b>们</b>").replace("公园", "公圆")
    assert changed == {**expected, "OPS/a.xhtml": page.encode()}


def test_a_protected_book_is_refused():
    encryption = "<encryption><CipherReference URI='OPS/a.xhtml'/></encryption>"
    with pytest.raises(InputError, match="copy-protected"):
        from_bytes("a.epub", book(encryption=encryption))


@pytest.mark.parametrize("suffix", ["xlsx", "epub", "docm", "pptx"])
def test_what_is_no_such_document_is_refused_in_one_sentence(suffix):
    for raw in (b"PK\x03\x04 broken", b"no archive", archive({"a": "b"})):
        with pytest.raises(InputError) as wrong:
            from_bytes(f"a.{suffix}", raw)
        assert "zero" not in str(wrong.value)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.xlsb", "a binary Excel workbook"),
        ("a.pages", "a Pages document"),
        ("a.zip", "an archive"),
        ("<stdin>", "an archive"),
    ],
)
def test_other_archives_are_named(name, expected):
    with pytest.raises(InputError, match=expected):
        from_bytes(name, archive({"a": b"\0" * 50}))


@pytest.mark.parametrize("suffix", ["docm", "dotx", "dotm"])
def test_documents_with_macros_and_templates_are_word_documents(suffix):
    raw = package("<w:p><w:r><w:t>我门</w:t></w:r></w:p>")
    document = from_bytes(f"a.{suffix}", raw)
    assert (
        "我们".encode()
        in members(document.with_edits([edit(document.text, "门", "们")]))["word/document.xml"]
    )
    require_tracking(document)


def paragraph(text, inside=""):
    return f"<w:p><w:r><w:t>{text}</w:t>{inside}</w:r></w:p>"


def test_places_in_a_word_document():
    cell = "<w:tc>{}</w:tc>".format
    first, second = cell(paragraph("甲一")), cell("<w:p/>") + cell(paragraph("甲二"))
    table = f"<w:tbl><w:tr>{first}</w:tr><w:tr>{second}</w:tr></w:tbl>"
    box = f"<w:pict><w:txbxContent>{paragraph('框里')}</w:txbxContent></w:pict>"
    body = (
        paragraph("第一", '<w:footnoteReference w:id="7"/>')
        + "<w:p/>"
        + paragraph("第二", box)
        + table
        + paragraph(
            "第三", '<w:lastRenderedPageBreak/><w:footnoteReference w:id="3"/><w:commentReference w:id="5"/>'
        )
        + paragraph("第四")
    )
    notes = "".join(
        f'<w:footnote w:id="{id}">{paragraph(text)}</w:footnote>' for id, text in ((3, "注丙"), (7, "注甲"))
    )
    other = {
        "header": paragraph("页眉"),
        "footnotes": notes,
        "comments": f'<w:comment w:id="5" w:author="王">{paragraph("批注")}</w:comment>',
    }
    document = from_bytes("a.docx", package(body, other=other))
    places = {
        text: document.place_of(document.text.index(text)).label
        for text in ("第一", "第二", "框里", "甲一", "甲二", "第四", "页眉", "注丙", "注甲", "批注")
    }
    assert places == {
        "第一": "page 1, paragraph 1",
        "第二": "page 1, paragraph 2",
        "框里": "page 1, text box",
        "甲一": "page 1, table 1, row 1, cell 1",
        "甲二": "page 1, table 1, row 2, cell 2",
        "第四": "page 2, paragraph 4",
        "页眉": "header",
        "注丙": "footnote 2",
        "注甲": "footnote 1",
        "批注": "comment 1",
    }


def test_the_words_of_other_people_are_known():
    inserted = '<w:ins w:id="1" w:author="{}"><w:r><w:t>{}</w:t></w:r></w:ins>'.format
    by_others, by_nmspeller = inserted("王", "插入他门"), inserted("nmspeller", "它门")
    body = f"<w:p><w:r><w:t>自己我门</w:t></w:r>{by_others}{by_nmspeller}</w:p>"
    comment = f'<w:comment w:id="5" w:author="王">{paragraph("批注她门")}</w:comment>'
    document = from_bytes("a.docx", package(body, other={"comments": comment}))
    edits = [edit(document.text, f"{word}门", f"{word}们") for word in "我他它她"]
    assert [one.source for one in edits_of_others(document, edits)] == ["他门", "她门"]
    assert edits_of_others(from_bytes("a.txt", "我门".encode()), [edits[0]]) == []
