"""Tracked changes in Word documents: accepted they give what `--fix` writes, rejected what was there."""

import io
import re
import zipfile

import docx
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from lxml import etree
from word_files import W, characters, decided, edit, package, part, shown, w

from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.messages import speaking
from nmspeller.runtime.findings import Edit, Reason


def tracked(raw, *pairs):
    document = DocxDocument.parse(raw, "a.docx")
    edits = sorted((edit(document.text, *pair) for pair in pairs), key=lambda one: one.offset)
    return check(raw, edits)


def check(raw, edits):
    """The document with tracked changes, after a look at what becomes of them."""
    document = DocxDocument.parse(raw, "a.docx")
    changed, fixed = document.with_edits(edits, track=True), document.with_edits(edits)
    for member in {span.member for span in document.spans}:
        before, fixed_part, now = part(raw, member), part(fixed, member), part(changed, member)
        for accept, expected in ((True, fixed_part), (False, before)):
            assert characters(decided(now, accept=accept)) == characters(decided(expected, accept=accept))
    assert DocxDocument.parse(changed, "a.docx").text == DocxDocument.parse(fixed, "a.docx").text
    return changed


def p(*runs, inside="{}"):
    return f"<w:p>{inside.format(''.join(runs))}</w:p>"


def r(text, properties=""):
    return f'<w:r>{properties and f"<w:rPr>{properties}</w:rPr>"}<w:t xml:space="preserve">{text}</w:t></w:r>'


BOLD, RED = "<w:b/>", '<w:color w:val="FF0000"/>'


def test_a_change_has_the_formatting_of_its_run_an_author_and_a_date():
    raw = package(p(r("今天我门去", BOLD + RED)))
    paragraph = part(tracked(raw, ("门", "们"))).find(f".//{w('p')}")
    assert [child.tag.rpartition("}")[2] for child in paragraph] == [
        "r", "commentRangeStart", "del", "ins", "commentRangeEnd", "r", "r"
    ]  # fmt: skip
    for change in paragraph[2], paragraph[3]:
        assert change.get(w("author")) == "nmspeller"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", change.get(w("date")))
        assert [one.tag for one in change.find(f".//{w('rPr')}")] == [w("b"), w("color")]
    assert "".join(paragraph[2].itertext()) == "门"
    assert "".join(paragraph[3].itertext()) == "们"


def test_only_the_touched_run_differs():
    raw = package(
        "<!-- 备注 --><w:p ><w:r w:rsidR='00A1'><w:t>不&#x6539;</w:t></w:r></w:p>"
        + p(r("一&gt;二我门去", BOLD), r("后面"))
        + "<w:p><w:pPr/></w:p>"
    )
    with (
        zipfile.ZipFile(io.BytesIO(raw)) as old,
        zipfile.ZipFile(io.BytesIO(tracked(raw, ("门", "们")))) as new,
    ):
        before, after = (archive.read("word/document.xml").decode() for archive in (old, new))
    head, tail = before.split(r("一&gt;二我门去", BOLD))
    assert after.startswith(head + r("一&gt;二我", BOLD))
    assert after.endswith(r("去", BOLD) + tail)


def test_every_other_member_is_the_same_in_the_archive():
    document = docx.Document()
    document.add_paragraph("我门去公园")
    output = io.BytesIO()
    document.save(output)
    raw = output.getvalue()
    changed = tracked(raw, ("门", "们"))
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(io.BytesIO(changed)) as new:
        assert new.testzip() is None
        added = new.namelist()[len(old.namelist()) :]
        assert new.namelist() == [*old.namelist(), *added]
        assert added == ["word/comments.xml"]
        for member in old.infolist():
            copy = new.getinfo(member.filename)
            assert (copy.date_time, copy.compress_type) == (member.date_time, member.compress_type)
            if member.filename in (
                "word/document.xml",
                "[Content_Types].xml",
                "word/_rels/document.xml.rels",
            ):
                continue
            assert _record(raw, old, member) == _record(changed, new, copy)


def _record(raw, archive, member):
    """A member as it is in the archive, with its header and its compressed content."""
    later = [one.header_offset for one in archive.infolist() if one.header_offset > member.header_offset]
    return raw[member.header_offset : min(later, default=archive.start_dir)]


def test_a_word_is_one_change_with_one_comment_over_runs():
    raw = package(p(r("请你"), r("借", BOLD), r("少", RED), r("一下")))
    document = DocxDocument.parse(raw, "a.docx")
    changed = check(
        raw,
        [
            edit(document.text, "借", "介", confidence=0.97),
            edit(document.text, "少", "绍", Reason.SIMILAR_SOUND, confidence=0.81),
        ],
    )
    again = docx.Document(io.BytesIO(changed))
    assert [comment.text for comment in again.comments] == [
        "借 jiè and 介 jiè sound the same, 少 shào and 绍 shào sound the same; 介绍 is a word. "
        "Confidence 0.81."
    ]
    assert [comment.author for comment in again.comments] == ["nmspeller"]
    body = part(changed)
    order = [
        one.tag.rpartition("}")[2]
        for one in body.iter(w("commentRangeStart"), w("del"), w("commentRangeEnd"))
    ]
    assert order == ["commentRangeStart", "del", "del", "commentRangeEnd"]


def test_adjacent_characters_of_a_run_are_one_deletion():
    raw = package(p(r("请你借少一下")))
    document = DocxDocument.parse(raw, "a.docx")
    changed = part(check(raw, [edit(document.text, "借", "介"), edit(document.text, "少", "绍")]))
    assert ["".join(one.itertext()) for one in changed.iter(w("del"), w("ins"))] == ["借少", "介绍"]


def test_comments_are_in_the_language_of_the_user():
    raw = package(p(r("我门去。")))
    with speaking("zh"):
        [comment] = docx.Document(io.BytesIO(tracked(raw, ("门", "们")))).comments
    assert comment.text == "“门”（mén）与“们”（men）同音且形近；“我们”是一个词。置信度 0.90。"


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_sentence(reason):
    raw = package(p(r("我门去。")))
    changed = check(raw, [edit("我门去。", "门", "们", reason, 0.876, rule="idiom")])
    [comment] = docx.Document(io.BytesIO(changed)).comments
    assert comment.text.endswith(".")
    assert any(word in comment.text for word in ("0.88", "is a word", "list"))


def test_earlier_comments_stay_and_ids_are_unique():
    earlier = f'<w:comment w:id="1" w:author="编辑"><w:p>{r("他门说")}</w:p></w:comment>'
    reference = '<w:r><w:commentReference w:id="1"/></w:r>'
    body = '<w:commentRangeStart w:id="1"/>{}<w:commentRangeEnd w:id="1"/>' + reference
    raw = package(p(r("我门去公园"), inside=body), other={"comments": earlier})
    changed = tracked(raw, ("我门", "我们"), ("公园", "公圆"))
    comments = part(changed, "word/comments.xml")
    ids = [one.get(w("id")) for tree in (part(changed), comments) for one in tree.iter(w("ins"), w("del"))]
    ids += [comment.get(w("id")) for comment in comments]
    assert len(set(ids)) == len(ids) == 4 + 3
    assert [comment.get(w("author")) for comment in comments] == ["编辑", "nmspeller", "nmspeller"]
    referred = [one.get(w("id")) for one in part(changed).iter(w("commentReference"))]
    assert sorted(referred) == sorted(comment.get(w("id")) for comment in comments)


def test_what_others_say_in_comments_is_left_alone():
    comment = f'<w:comment w:id="2">{p(r("这里我门"))}</w:comment>'
    raw = package(p(r("正文")), other={"comments": comment})
    document = DocxDocument.parse(raw, "a.docx")
    changed = document.with_edits([edit(document.text, "我门", "我们")], track=True)
    assert DocxDocument.parse(changed, "a.docx").text == document.text
    assert changed == raw


def test_a_second_pass_does_not_read_the_comments_of_the_first():
    changed = tracked(package(p(r("我门去公园"))), ("门", "们"))
    assert DocxDocument.parse(changed, "a.docx").text.split() == ["我们去公园"]
    twice = tracked(changed, ("公园", "公圆"))
    assert len(docx.Document(io.BytesIO(twice)).comments) == 2


TEXT_BOX = (
    "<w:r><w:pict><v:shape xmlns:v='urn:schemas-microsoft-com:vml'><v:textbox><w:txbxContent>"
    f"{p(r('框里我门', BOLD))}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
)


@pytest.mark.parametrize(
    ("body", "other"),
    [
        (p(r("外面"), TEXT_BOX), {}),
        (p("<w:r><w:t>外</w:t>" + TEXT_BOX.removeprefix("<w:r>")), {}),
        *((p(r("正文")), {name: p(r("这里我门"))}) for name in ("header", "footer")),
        (p(r("正文")), {"footnotes": f'<w:footnote w:id="2">{p(r("这里我门"))}</w:footnote>'}),
        (p(r("正文")), {"endnotes": f'<w:endnote w:id="2">{p(r("这里我门"))}</w:endnote>'}),
        (p("<w:sdt><w:sdtContent>", r("控件我门"), "</w:sdtContent></w:sdt>"), {}),
    ],
)
def test_where_word_has_no_comments_there_is_a_change_alone(body, other):
    raw = package(body, other=other)
    changed = tracked(raw, ("我门", "我们"))
    assert not list(part(changed).iter(w("commentReference")))
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(io.BytesIO(changed)) as new:
        assert old.namelist() == new.namelist()


INSERTION = '<w:ins w:id="7" w:author="编辑" w:date="2024-01-01T00:00:00Z">{}</w:ins>'


def test_a_change_of_somebody_s_insertion_is_a_deletion_inside_it():
    raw = package(p(r("请", ""), INSERTION.format(r("我门去", BOLD)), r("吧")))
    paragraph = part(tracked(raw, ("门", "们"))).find(f".//{w('p')}")
    for change in paragraph.iter(w("ins")):
        assert change.getparent() is paragraph
    [deletion] = paragraph.iter(w("del"))
    assert deletion.getparent().get(w("author")) == "编辑"
    ids = [one.get(w("id")) for one in paragraph.iter(w("ins"), w("del"))]
    assert len(ids) == len(set(ids))


def test_deleted_text_is_not_read():
    deleted = f'<w:del w:id="1" w:author="编辑"><w:r><w:delText>我门</w:delText></w:r>{r("我门")}</w:del>'
    assert DocxDocument.parse(package(p(r("留"), deleted, r("下"))), "a").text.strip() == "留下"


def test_fields_and_links():
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF 我门</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        + r("我门一")
        + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    raw = package(
        p(field, f'<w:hyperlink w:anchor="a">{r("他门二")}</w:hyperlink>')
        + p(f'<w:fldSimple w:instr="REF b">{r("她门三", BOLD)}</w:fldSimple>')
    )
    changed = part(tracked(raw, ("我门", "我们"), ("他门", "他们"), ("她门", "她们")))
    assert [one.getparent().tag.rpartition("}")[2] for one in changed.iter(w("ins"))] == [
        "p",
        "hyperlink",
        "fldSimple",
    ]
    assert [one.text for one in changed.iter(w("instrText"))] == ["REF 我门"]


def test_earlier_changes_of_formatting_are_copied_under_ids_of_their_own():
    changed_format = '<w:b/><w:rPrChange w:id="3" w:author="编辑"><w:rPr/></w:rPrChange>'
    changed = part(check(package(p(r("今天我门去", changed_format))), [edit("今天我门去", "门", "们")]))
    ids = [one.get(w("id")) for one in changed.iter(w("ins"), w("del"), w("rPrChange"))]
    assert len(ids) == len(set(ids)) == 6


def test_a_document_whose_names_have_no_prefix():
    body = "<p><r><rPr><b/></rPr><t>今天我门去</t></r></p>"
    changed = tracked(package(body, root=f'xmlns="{W}"', p=""), ("门", "们"))
    assert len(docx.Document(io.BytesIO(changed)).comments) == 1


def test_a_document_in_utf_16():
    raw = package(p(r("今天我门去")))
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(output, "w") as new:
        for member in old.namelist():
            content = old.read(member)
            if member == "word/document.xml":
                content = content.decode().replace("UTF-8", "UTF-16").encode("utf-16")
            new.writestr(member, content)
    assert shown(decided(part(tracked(output.getvalue(), ("门", "们"))), accept=True)) == ["今天我们去"]


def test_insertions_and_deletions():
    raw = package(p(r("我们们去", BOLD), r("北京"), r("，玩")))
    text = "我们们去北京，玩"
    changed = check(
        raw,
        [
            Edit(1, 1, "们", "", 1.0, (), Reason.RULE, rule="doubled-character"),
            Edit(4, 0, "", "了", 1.0, (), Reason.RULE, rule="idiom"),
            Edit(5, 2, "京，", "京。然后", 1.0, (), Reason.USER_LIST),
        ],
    )
    assert DocxDocument.parse(raw, "a").text.strip() == text
    assert shown(decided(part(changed), accept=True)) == ["我们去了北京。然后玩"]


FORMATS = ["", BOLD, RED, BOLD + RED]
WRAPPERS = [
    "{}", "{}", "{}",
    INSERTION,
    '<w:del w:id="8" w:author="编辑"><w:r><w:delText>旧</w:delText></w:r></w:del>{}',
    '<w:hyperlink w:anchor="a">{}</w:hyperlink>',
    "<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>",
    '<w:smartTag w:element="x">{}</w:smartTag>',
    '<w:bookmarkStart w:id="4" w:name="b"/>{}<w:bookmarkEnd w:id="4"/>',
    '<w:moveTo w:id="9" w:author="编辑">{}</w:moveTo>',
]  # fmt: skip
texts = st.text(alphabet="我门他去公圆天 &<👍", min_size=1, max_size=5)


@st.composite
def run_of(draw):
    content = ""
    for _ in range(draw(st.integers(1, 3))):
        text = draw(texts).replace("&", "&amp;").replace("<", "&lt;")
        content += draw(st.sampled_from(['<w:t xml:space="preserve">{}</w:t>', "<w:t>{}</w:t>"])).format(text)
        content += draw(
            st.sampled_from(["", "", "<w:tab/>", "<w:br/>", '<w:footnoteReference w:id="2"/>', " "])
        )
    properties = draw(st.sampled_from(FORMATS))
    return f"<w:r>{properties and f'<w:rPr>{properties}</w:rPr>'}{content}</w:r>"


@st.composite
def document_and_edits(draw):
    paragraphs = draw(
        st.lists(
            st.lists(
                st.tuples(st.sampled_from(WRAPPERS), st.lists(run_of(), min_size=1, max_size=3)), max_size=4
            ),
            max_size=3,
        )
    )
    raw = package("".join(p(*(wrapper.format("".join(runs)) for wrapper, runs in one)) for one in paragraphs))
    text = DocxDocument.parse(raw, "a.docx").text
    edits, at = [], 0
    while (at := at + draw(st.integers(0, 4))) < len(text):
        length = draw(st.integers(0, 4))
        source = re.match("[^\n\t]*", text[at : at + length])[0]
        if source or text[at] not in "\n\t":
            target = draw(st.text(alphabet="们园气 &", max_size=4))
            edits.append(Edit(at, len(source), source, target, 1.0, (), Reason.SAME_SOUND))
        at += len(source) + 1 * (not source)
    return raw, edits


@pytest.mark.slow
@given(document_and_edits())
@settings(max_examples=80, deadline=None)
def test_any_document_and_any_edits(case):
    raw, edits = case
    note(etree.tostring(part(raw), encoding="unicode"))
    check(raw, edits)


def test_comments_of_another_author_are_known_as_ours_and_not_checked():
    document = DocxDocument.parse(package(p(r("我门去。"))), "a.docx")
    written = document.with_tracked_changes([edit(document.text, "门", "们")], author="王编辑")
    [comment] = docx.Document(io.BytesIO(written)).comments
    assert comment.author == "王编辑"
    assert "王编辑" in {one.get(w("author")) for one in part(written).iter(w("ins"), w("del"))}
    assert DocxDocument.parse(written, "a.docx").text == "我们去。\n"
