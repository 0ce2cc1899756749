"""`nmspeller check` on Word, OpenDocument and PowerPoint files: findings, corrections, tracked changes."""

import io
import zipfile

import docx
import pytest

from nmspeller.apps.documents.document import from_bytes

TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"


@pytest.fixture
def word(tmp_path):
    document = docx.Document()
    document.add_paragraph("今天我门去公圆。")
    document.save(str(tmp_path / "a.docx"))
    return tmp_path / "a.docx"


@pytest.fixture
def opendocument(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        file.writestr("content.xml", f'<a xmlns:t="{TEXT}"><t:p>今天我<t:span>门</t:span>去公圆。</t:p></a>')
        file.writestr("styles.xml", "<a/>")
        file.writestr("META-INF/manifest.xml", "<a/>")
    return tmp_path / "a.odt"


def test_tracked_changes_with_comments(check, word):
    result = check("--fix", "--track", "--backup", "a.docx")
    assert result.code == 1
    assert "Corrected a.docx; the original is a.docx.bak." in result.err
    document = docx.Document(word)
    assert [comment.text for comment in document.comments] == [
        "Same sound, confidence 0.99.",
        "Same sound, confidence 0.91.",
    ]
    with zipfile.ZipFile(word) as file:
        body = file.read("word/document.xml").decode()
    assert body.count("<w:del ") == body.count("<w:ins ") == 2
    assert from_bytes("a.docx", word.read_bytes()).text == "今天我们去公园。\n"
    assert check("--fix", "--track", "a.docx").code == 0


def test_tracked_changes_by_way_of_standard_input(check, word):
    result = check("--fix", "--track", "--format", "docx", "-", stdin=word.read_bytes())
    assert len(docx.Document(io.BytesIO(result.raw)).comments) == 2


@pytest.mark.parametrize("name", ["a.odt", "a.txt"])
def test_only_word_documents_have_tracked_changes(check, opendocument, tmp_path, name):
    (tmp_path / "a.txt").write_text("今天我门去公圆。")
    before = (tmp_path / name).read_bytes()
    result = check("--fix", "--track", name)
    assert (result.code, result.out) == (2, "")
    assert result.err == f"nmspeller: {name} cannot have tracked changes; only Word documents (.docx) can.\n"
    assert (tmp_path / name).read_bytes() == before


def test_track_goes_with_fix(check, word):
    result = check("--track", "a.docx")
    assert (result.code, result.err) == (2, "nmspeller: --track needs --fix.\n")


def test_an_opendocument_text_is_found_in_a_folder_reported_and_corrected(check, opendocument, tmp_path):
    assert check(".").out.splitlines() == [
        "a.odt: paragraph 1 “今天我门去公圆。”: 门 → 们 (same sound, 0.99)",
        "a.odt: paragraph 1 “天我门去公圆。”: 圆 → 园 (same sound, 0.91)",
    ]
    assert "-今天我门去公圆。\n+今天我们去公园。\n" in check("--diff", "a.odt").out
    assert check("--fix", "a.odt").code == 1
    with zipfile.ZipFile(opendocument) as file:
        assert "今天我<t:span>们</t:span>去公园。" in file.read("content.xml").decode()


def test_a_name_without_a_suffix_takes_a_format(check, opendocument, tmp_path):
    opendocument.rename(tmp_path / "letter")
    assert check("--format", "odt", "letter").out.startswith(
        "letter: paragraph 1 “今天我门去公圆。”: 门 → 们"
    )
