"""Whose words the text of a Word document is."""

import pytest
from word_files import package

from nmspeller.apps.documents.authors import words_of_others
from nmspeller.apps.documents.document import from_text
from nmspeller.apps.documents.docx import DocxDocument


def r(text):
    return f"<w:r><w:t>{text}</w:t></w:r>"


def inserted(text, author):
    return f'<w:ins w:id="7" w:author="{author}">{r(text)}</w:ins>'


RAW = package(
    f"<w:p>{r('甲乙')}{inserted('丙丁', '王编辑')}{r('戊')}{inserted('己', 'nmspeller')}</w:p>",
    other={"comments": f'<w:comment w:id="1" w:author="王编辑"><w:p>{r("庚")}</w:p></w:comment>'},
)


@pytest.mark.parametrize("length", [1, 2])
def test_insertions_and_comments_are_another_person_s(length):
    document = DocxDocument.parse(RAW, "a.docx")
    theirs = words_of_others(document)
    found = [document.text[at] for at in range(len(document.text)) if theirs.has(at, length)]
    assert found == {1: ["丙", "丁", "庚"], 2: ["乙", "丙", "丁", "\n", "庚"]}[length]


def test_what_is_inserted_at_either_end_may_be_theirs():
    document = DocxDocument.parse(RAW, "a.docx")
    theirs = words_of_others(document)
    assert [at for at in range(7) if theirs.has(at, 0)] == [2, 3, 4]


BY_WANG = 'w:id="7" w:author="王编辑"'


def ins(content):
    return f"<w:ins {BY_WANG}>{content}</w:ins>"


def p(content, properties=""):
    return f"<w:p>{properties}{content}</w:p>"


def row(*cells, properties=""):
    return f"<w:tr>{properties}{''.join(cells)}</w:tr>"


def cell(text, properties=""):
    return f"<w:tc>{properties}{p(r(text))}</w:tc>"


def box(content):
    return f"<w:r><w:pict><w:txbxContent>{content}</w:txbxContent></w:pict></w:r>"


INSERTED_MARK = f"<w:pPr><w:rPr><w:ins {BY_WANG}/></w:rPr></w:pPr>"


@pytest.mark.parametrize(
    ("body", "theirs"),
    [
        (p(ins(r("丙") + r("丁")), INSERTED_MARK) + p(r("甲")), "丙丁"),
        (p(r("甲"), INSERTED_MARK) + p(r("乙")), ""),
        (p(f"<w:moveTo {BY_WANG}>{r('丙')}</w:moveTo>" + r("甲")), "丙"),
        (p(ins(f"<w:sdt><w:sdtContent>{r('丙')}</w:sdtContent></w:sdt>") + r("甲")), "丙"),
        (p(ins(f"<w:smartTag>{r('丙')}</w:smartTag>") + r("甲")), "丙"),
        (p(f"<w:hyperlink>{ins(r('丙'))}{r('甲')}</w:hyperlink>"), "丙"),
        (p(ins(box(p(r("丙")))) + r("甲")), "丙"),
        (p(box(p(r("甲") + ins(r("丙"))))), "丙"),
        (p(ins(box(p(inserted("己", "nmspeller") + r("丙"))))), "丙"),
        (
            "<w:tbl>"
            + row(cell("甲"))
            + row(cell("丙"), cell("丁"), properties=f"<w:trPr><w:ins {BY_WANG}/></w:trPr>")
            + row(cell("乙"), cell("戊", f"<w:tcPr><w:cellIns {BY_WANG}/></w:tcPr>"), cell("己"))
            + "</w:tbl>",
            "丙丁戊",
        ),
    ],
)
def test_insertions_hold_more_than_runs(body, theirs):
    assert _theirs(package(body)) == theirs


def test_a_note_is_inserted_with_its_reference():
    reference = "<w:r><w:footnoteReference w:id='{}'/></w:r>"
    body = p(r("甲") + reference.format(2) + ins(reference.format(3)))
    notes = "".join(
        f'<w:footnote w:id="{number}">{p(r(text))}</w:footnote>' for number, text in ((2, "乙"), (3, "丙"))
    )
    assert _theirs(package(body, other={"footnotes": notes})) == "丙"


def _theirs(raw):
    document = DocxDocument.parse(raw, "a.docx")
    theirs = words_of_others(document)
    return "".join(character for at, character in enumerate(document.text) if theirs.has(at, 1))


def test_other_documents_have_one_author():
    assert not words_of_others(from_text("甲乙", "a.txt")).has(0, 2)
