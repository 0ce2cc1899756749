"""OpenDocument and PowerPoint files: their prose is read, edits land in it, all else stays to the byte."""

import io
import zipfile

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from word_files import edit

from nmspeller.apps.documents.authors import words_of_others
from nmspeller.apps.documents.document import from_bytes
from nmspeller.errors import InputError
from nmspeller.runtime.correction import apply_edits
from nmspeller.runtime.findings import Edit, Reason

ODF = "urn:oasis:names:tc:opendocument:xmlns"
SPACES = " ".join(f'xmlns:{name}="{ODF}:{name}:1.0"' for name in ("office", "text", "style", "table"))
SPACES += f' xmlns:draw="{ODF}:drawing:1.0" xmlns:svg="{ODF}:svg-compatible:1.0"'
SPACES += f' xmlns:fo="{ODF}:xsl-fo-compatible:1.0" office:version="1.2"'
MANIFEST = (
    f'<manifest:manifest xmlns:manifest="{ODF}:manifest:1.0" manifest:version="1.2">{{}}</manifest:manifest>'
)
DRAWING = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def archive(members):
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as file:
        for name, content in members.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            file.writestr(name, content, kind)
    return output.getvalue()


def odt(content, styles="", kind="text", manifest="", without=()):
    members = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"<?xml version='1.0'?>\n<office:document-content {SPACES}><office:body>"
        f"<office:{kind}>{content}</office:{kind}></office:body></office:document-content>",
        "Thumbnails/thumbnail.png": b"\x89PNG 1234567890" * 20,
        "styles.xml": f"<office:document-styles {SPACES}>{styles}</office:document-styles>",
    }
    members = {name: member for name, member in members.items() if name not in without}
    entries = [("/", members["mimetype"]), *((name, "") for name in members if name != "mimetype")]
    manifest += "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{type}"/>'
        for path, type in entries
    )
    return archive({**members, "META-INF/manifest.xml": MANIFEST.format(manifest)})


def test_comments_in_an_opendocument_file_are_another_person_s():
    comment = "<office:annotation><text:p>乙<text:span>丙</text:span></text:p></office:annotation>"
    document = from_bytes("a.odt", odt(f"<text:p>甲{comment}丁</text:p>"))
    theirs = words_of_others(document)
    assert [document.text[at] for at in range(len(document.text)) if theirs.has(at, 1)] == ["乙", "丙"]


def relationships(*targets):
    return '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'.format(
        "".join(
            f'<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{target}"/>'
            for id, kind, target in targets
        )
    )


def slide(content):
    return f'<p:sld xmlns:p="p" {DRAWING}>{content}</p:sld>'


def pptx(slides, notes=()):
    """Slides that the archive has in the reverse of the order in which they are shown."""
    numbers = range(1, len(slides) + 1)
    members = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relationships(("rId1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f'<p:presentation xmlns:p="p" xmlns:r="{OFFICE}">'
        + "".join(f'<p:sldId id="{number}" r:id="s{number}"/>' for number in numbers)
        + "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relationships(
            *((f"s{number}", "slide", f"slides/slide{number}.xml") for number in numbers)
        ),
    }
    for number, content in reversed(list(enumerate(slides, 1))):
        members[f"ppt/slides/slide{number}.xml"] = slide(content)
    for number, content in enumerate(notes, 1):
        members[f"ppt/notesSlides/notesSlide{number}.xml"] = slide(content)
        members[f"ppt/slides/_rels/slide{number}.xml.rels"] = relationships(
            ("n", "notesSlide", f"../notesSlides/notesSlide{number}.xml")
        )
    return archive(members)


def lines(raw, name):
    return from_bytes(name, raw).text.splitlines()


def changed_members(before, after):
    with zipfile.ZipFile(io.BytesIO(before)) as old, zipfile.ZipFile(io.BytesIO(after)) as new:
        assert old.namelist() == new.namelist()
        assert new.testzip() is None
        changed = [one.filename for one in old.infolist() if old.read(one) != new.read(one.filename)]
        for one in old.infolist():
            same = new.getinfo(one.filename)
            assert (same.date_time, same.compress_type) == (one.date_time, one.compress_type)
        return changed


def test_prose_of_an_opendocument_text():
    content = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>删去</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
        "<text:h>标<text:span>题</text:span></text:h>"
        "<text:p>第<text:page-number>7</text:page-number>页<text:s/>一<text:tab/>二<text:line-break/>三</text:p>"
        "<text:p>正文<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>脚注</text:p>"
        "</text:note-body></text:note>继续</text:p>"
        "<text:p><text:ruby><text:ruby-base>汉字</text:ruby-base><text:ruby-text>han zi</text:ruby-text>"
        "</text:ruby></text:p><table:table><table:table-cell><text:p>格</text:p></table:table-cell></table:table>"
        "<text:p><draw:frame><draw:text-box><text:p>框内</text:p></draw:text-box></draw:frame></text:p>"
    )
    styles = "<style:header><text:p>页眉</text:p></style:header>"
    expected = ["标题", "第页 一\t二", "三", "正文", "脚注", "继续", "汉字", "格", "框内", "页眉"]
    assert lines(odt(content, styles), "a.odt") == expected


def test_slides_are_read_as_they_are_shown_each_with_its_notes():
    run = "<a:p><a:r><a:t>{}</a:t></a:r></a:p>"
    number = "<a:p><a:fld type='slidenum'><a:t>1</a:t></a:fld></a:p>"
    raw = pptx(
        [
            run.format("第一页") + number,
            "<a:p><a:r><a:t>第二</a:t></a:r><a:br/><a:r><a:t>页</a:t></a:r></a:p>",
        ],
        [run.format("备注")],
    )
    assert lines(raw, "a.pptx") == ["第一页", "备注", "第二", "页"]
    document = from_bytes("a.pptx", raw)
    assert document.place_of(document.text.index("备注")).label == "slide 1, speaker notes"
    assert document.place_of(document.text.index("第二")).label == "slide 2"


def test_an_opendocument_text_needs_no_styles_but_its_content():
    content = "<text:p>我门</text:p>"
    assert lines(odt(content, without=["styles.xml"]), "a.odt") == ["我门"]
    with pytest.raises(InputError, match=r"a\.odt is not an OpenDocument file that can be read"):
        from_bytes("a.odt", odt(content, without=["content.xml"]))


def test_presentations_of_opendocument_are_read_without_the_words_of_their_styles():
    raw = odt("<draw:page><text:p>幻灯片</text:p></draw:page>", "<text:p>单击编辑</text:p>", "presentation")
    assert lines(raw, "a.odp") == ["幻灯片"]


CASES = {
    "a.odt": (
        odt(
            "<!-- 注 --><text:p >请&#x4f60;<text:span>借</text:span>少一&lt;下</text:p><text:p>我门</text:p>"
        ),
        "content.xml",
        "<!-- 注 --><text:p >请&#x4f60;<text:span>介</text:span>绍一&lt;下</text:p><text:p>我门</text:p>",
    ),
    "a.pptx": (
        pptx(
            ["<a:p ><a:r><a:rPr b='1'/><a:t>借</a:t></a:r><a:r><a:t>少一&lt;下</a:t></a:r></a:p><!-- 注 -->"]
        ),
        "ppt/slides/slide1.xml",
        "<a:p ><a:r><a:rPr b='1'/><a:t>介</a:t></a:r><a:r><a:t>绍一&lt;下</a:t></a:r></a:p><!-- 注 -->",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_edit_changes_its_text_alone(name):
    raw, member, expected = CASES[name]
    document = from_bytes(name, raw)
    corrected = document.with_edits([edit(document.text, "借少", "介绍")])
    assert changed_members(raw, corrected) == [member]
    with zipfile.ZipFile(io.BytesIO(corrected)) as new:
        assert expected in new.read(member).decode()
    with pytest.raises(InputError, match="cannot have tracked changes; only Word documents"):
        document.with_edits([], track=True)


def test_blanks_that_are_elements_can_be_deleted():
    document = from_bytes("a.odt", odt('<text:p>我<text:s text:c="2"/>们</text:p>'))
    assert document.text == "我  们\n"
    for target, expected in (("", "我们\n"), (" ", "我 们\n")):
        corrected = document.with_edits([Edit(1, 2, "  ", target, 1.0, (), Reason.RULE)])
        assert from_bytes("a.odt", corrected).text == expected


BOMB = b'<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize("name", CASES)
def test_entities_are_rejected(name):
    raw, member, _expected = CASES[name]
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(output, "w") as new:
        for one in old.namelist():
            content = old.read(one)
            start = content.index(b"?>\n") + 3 if content.startswith(b"<?xml") else 0
            new.writestr(one, content[:start] + BOMB + content[start:] if one == member else content)
    with pytest.raises(InputError, match=rf"^{name} is not an? .*\(it has a document type declaration\)\.$"):
        from_bytes(name, output.getvalue())


@pytest.mark.parametrize(
    ("name", "raw", "sentence"),
    [
        ("a.odt", b"PK", "a.odt is not an OpenDocument file that can be read (no whole zip archive)."),
        ("a.odt", archive({"mimetype": ""}), "a.odt is not an OpenDocument file that can be read"),
        ("a.odt", odt("", manifest="<manifest:encryption-data/>"), "a.odt has a password; save it without"),
        ("a.pptx", archive({"x": ""}), "a.pptx is not a PowerPoint presentation."),
        ("a.pptx", CASES["a.odt"][0], "a.pptx is not a PowerPoint presentation."),
        ("a.ods", odt("", kind="spreadsheet"), "a.ods is an OpenDocument spreadsheet"),
    ],
)
def test_other_content_is_rejected(name, raw, sentence):
    with pytest.raises(InputError) as wrong:
        from_bytes(name, raw)
    assert str(wrong.value).startswith(sentence)


spans = st.lists(st.text(alphabet="我门天&<\u00a0👍", min_size=1, max_size=4), min_size=1, max_size=4)


@given(st.lists(spans, min_size=1, max_size=3), st.sampled_from(["odt", "pptx"]), st.data())
@settings(max_examples=60, deadline=None)
def test_any_text_and_any_edits(paragraphs, format, data):
    written = [
        [one.replace("&", "&amp;").replace("<", "&lt;") for one in paragraph] for paragraph in paragraphs
    ]
    if format == "odt":
        inside = "".join(
            f"<text:p>{''.join(f'<text:span>{one}</text:span>' for one in each)}</text:p>" for each in written
        )
        raw = odt(inside)
    else:
        raw = pptx(
            [
                "".join(
                    f"<a:p>{''.join(f'<a:r><a:t>{one}</a:t></a:r>' for one in each)}</a:p>"
                    for each in written
                )
            ]
        )
    document = from_bytes(f"a.{format}", raw)
    assert document.text == "".join("".join(each) + "\n" for each in paragraphs)
    edits, at = [], 0
    while (at := at + data.draw(st.integers(0, 3))) < len(document.text):
        source = document.text[at : at + data.draw(st.integers(0, 3))].partition("\n")[0]
        target = data.draw(st.text(alphabet="们<&", max_size=3))
        edits.append(Edit(at, len(source), source, target, 1.0, (), Reason.CONTEXT))
        at += len(source) + 1
    corrected = from_bytes(f"a.{format}", document.with_edits(edits)).text
    expected = apply_edits(document.text, edits)
    assert corrected.replace("\n", "") == expected.replace("\n", "")


def word_document(folder):
    document = docx.Document()
    document.add_paragraph("今天我门去").add_run("公圆玩").bold = True
    document.add_table(1, 1).cell(0, 0).text = "格里他门"
    document.sections[0].header.paragraphs[0].text = "页眉她门"
    document.save(folder / "first.docx")
    return folder / "first.docx"


def presentation(folder):
    text = "<draw:text-box><text:p>今天我门去</text:p></draw:text-box>"
    frame = f'<draw:frame svg:width="9cm" svg:height="3cm" svg:x="1cm" svg:y="1cm">{text}</draw:frame>'
    styles = (
        '<office:automatic-styles><style:page-layout style:name="L"><style:page-layout-properties '
        'fo:page-width="28cm" fo:page-height="16cm"/></style:page-layout></office:automatic-styles>'
        '<office:master-styles><style:master-page style:name="M" style:page-layout-name="L"/>'
        "</office:master-styles>"
    )
    page = f'<draw:page draw:name="1" draw:master-page-name="M">{frame}</draw:page>'
    (folder / "first.odp").write_bytes(odt(page, styles, "presentation"))
    return folder / "first.odp"


@pytest.mark.parametrize(
    ("format", "made_from", "pairs"),
    [
        ("odt", word_document, ["我门 我们", "公圆 公园", "他门 他们", "她门 她们"]),
        ("odp", presentation, ["我门 我们"]),
        ("pptx", presentation, ["我门 我们"]),
    ],
)
def test_files_that_libreoffice_writes_and_reads_again(format, made_from, pairs, libreoffice, tmp_path):
    file = libreoffice(made_from(tmp_path), tmp_path / f"a.{format}")
    document = from_bytes(file.name, file.read_bytes())
    edits = sorted((edit(document.text, *pair.split()) for pair in pairs), key=lambda one: one.offset)
    file.write_bytes(document.with_edits(edits))
    again = libreoffice(file, tmp_path / f"again.{format}")
    assert from_bytes(again.name, again.read_bytes()).text == apply_edits(document.text, edits)


def test_places_in_an_opendocument_text():
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>".format
    content = (
        "<text:h>标题</text:h><text:p/><text:p>第二段"
        '<text:note text:note-class="endnote"><text:note-body><text:p>尾注</text:p></text:note-body>'
        "</text:note>"
        "接着</text:p>"
        f"<table:table><table:table-row>{cell('甲')}{cell('乙')}</table:table-row></table:table>"
        "<text:p>第三段</text:p>"
    )
    styles = "<style:header><text:p>页眉</text:p></style:header>"
    document = from_bytes("a.odt", odt(content, styles))
    assert {
        text: document.place_of(document.text.index(text)).label for text in ("标题", "接着", "尾注")
    } == {
        "标题": "paragraph 1",
        "接着": "paragraph 2",
        "尾注": "endnote 1",
    }
    assert document.place_of(document.text.index("乙")).label == "table 1, row 1, cell 2"
    assert document.place_of(document.text.index("第三段")).label == "paragraph 3"
    assert document.place_of(document.text.index("页眉")).label == "header"
