"""Whose words the text of a Word document is."""

import pytest
from word_files import package

from nmspeller.apps.documents.document import from_text
from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.apps.documents.word_authors import words_of_others


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


def test_other_documents_have_one_author():
    assert not words_of_others(from_text("甲乙", "a.txt")).has(0, 2)
