"""`nmspeller check` on Word, OpenDocument and PowerPoint files: findings, corrections, tracked changes."""

import io
import zipfile

import docx
import pytest

from nmspeller.apps.cli import job
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
    assert "Suggested changes in a.docx; the original is a.docx.bak." in result.err
    document = docx.Document(word)
    assert [comment.text for comment in document.comments] == [
        "门 mén and 们 men sound the same and look similar; 我们 is a word. Confidence 0.99.",
        "圆 yuán and 园 yuán sound the same and look similar; 公园 is a word. Confidence 0.91.",
    ]
    with zipfile.ZipFile(word) as file:
        body = file.read("word/document.xml").decode()
    assert body.count("<w:del ") == body.count("<w:ins ") == 2
    assert from_bytes("a.docx", word.read_bytes()).text == "今天我们去公园。\n"
    assert check("--fix", "--track", "a.docx").code == 0


UNTRACKED = (
    "1 finding in a comment was left, since changes there cannot be tracked; "
    "--others without --track changes it.\n"
)


def of_two_people(path):
    document = docx.Document()
    paragraph = document.add_paragraph("那天我门去看。")
    document.add_comment(paragraph.runs, "我门再看看。", author="王编辑")
    document.save(path)
    return path.read_bytes()


def test_what_cannot_be_tracked_is_told_beside_what_was(check, tmp_path):
    raw = of_two_people(tmp_path / "a.docx")
    result = check("--fix", "--track", "a.docx")
    assert result.err == UNTRACKED + "Suggested changes in a.docx.\n"
    result = check("--fix", "--track", "--format", "docx", "-", stdin=raw)
    assert result.err == UNTRACKED
    assert len(docx.Document(io.BytesIO(result.raw)).comments) == 2


def test_another_person_s_words_are_left_in_standard_input_too(check, tmp_path):
    raw = of_two_people(tmp_path / "a.docx")
    result = check("--fix", "--format", "docx", "-", stdin=raw)
    assert "--others changes it" in result.err
    corrected = docx.Document(io.BytesIO(result.raw))
    assert corrected.paragraphs[0].text == "那天我们去看。"
    assert [comment.text for comment in corrected.comments] == ["我门再看看。"]


def test_nothing_is_called_corrected_that_was_not_written(check, tmp_path):
    document = docx.Document()
    paragraph = document.add_paragraph("一切都好。")
    document.add_comment(paragraph.runs, "我门再看看。", author="王编辑")
    document.save(tmp_path / "a.docx")
    before = (tmp_path / "a.docx").read_bytes()
    result = check("--fix", "--track", "--backup", "a.docx")
    assert result.code == 1
    assert result.err == UNTRACKED + "a.docx was left as it is.\n"
    assert (tmp_path / "a.docx").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.docx"]
    assert "--others changes it" in check("--fix", "a.docx").err
    assert (tmp_path / "a.docx").read_bytes() == before
    assert check("--fix", "--others", "a.docx").err == "Corrected a.docx.\n"


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
    assert "-今天我门去公圆。\n+今天我们去公园。\n" in check("-o", "diff", "a.odt").out
    assert check("--fix", "a.odt").code == 1
    with zipfile.ZipFile(opendocument) as file:
        assert "今天我<t:span>们</t:span>去公园。" in file.read("content.xml").decode()


def test_a_name_without_a_suffix_takes_a_format(check, opendocument, tmp_path):
    opendocument.rename(tmp_path / "letter")
    assert check("--format", "odt", "letter").out.startswith(
        "letter: paragraph 1 “今天我门去公圆。”: 门 → 们"
    )


def sign(path):
    """Add what a signed file of its kind has, as far as a reader looks."""
    if path.suffix == ".odt":
        with zipfile.ZipFile(path, "a") as file:
            file.writestr("META-INF/documentsignatures.xml", "<document-signatures/>")
        return
    document = docx.Document(path)
    package = document.part.package
    origin = docx.opc.part.Part(
        docx.opc.packuri.PackURI("/_xmlsignatures/origin.sigs"),
        "application/vnd.openxmlformats-package.digital-signature-origin",
        b"",
        package,
    )
    package.relate_to(
        origin, "http://schemas.openxmlformats.org/package/2006/relationships/digital-signature/origin"
    )
    document.save(str(path))


@pytest.mark.parametrize("kind", ["word", "opendocument"])
def test_a_signed_document_is_corrected_by_force_alone(check, kind, request):
    path = request.getfixturevalue(kind)
    sign(path)
    signed = path.read_bytes()
    assert check(path.name).code == 1
    result = check("--fix", path.name)
    assert result.code == 2
    assert result.err == (
        f"nmspeller: {path.name} has a digital signature, which a correction would make invalid; "
        "correct it nevertheless with --fix --force.\n"
    )
    assert path.read_bytes() == signed
    result = check("--fix", "--force", path.name)
    assert result.code == 1
    assert f"The digital signature of {path.name} becomes invalid; sign the document again.\n" in result.err
    assert "我们" in from_bytes(path.name, path.read_bytes()).text
    assert check("--fix", path.name).code == 0


def test_nothing_is_written_before_a_signed_document_is_refused(check, word, monkeypatch):
    sign(word)
    before = {path.name: path.read_bytes() for path in word.parent.iterdir()}
    monkeypatch.setattr(job.files, "replace", lambda *_, **__: pytest.fail("it was written"))
    for options in (["--fix"], ["--fix", "--backup"], ["--fix", "--track"]):
        result = check(*options, "a.docx")
        assert result.code == 2
        assert result.err.count("which a correction would make invalid") == 1
        assert {path.name: path.read_bytes() for path in word.parent.iterdir()} == before


def test_a_signed_document_has_no_tracked_changes_without_force(check, word):
    sign(word)
    assert "has a digital signature" in check("--fix", "--track", "a.docx").err
    assert check("--fix", "--track", "--force", "a.docx").code == 1


def test_what_is_no_signature_of_an_opendocument_file_does_not_matter(check, opendocument):
    with zipfile.ZipFile(opendocument, "a") as file:
        file.writestr("_rels/.rels", "this is no XML")
    assert check("--fix", opendocument.name).code == 1
    assert "我们" in from_bytes(opendocument.name, opendocument.read_bytes()).text


def test_force_goes_with_fix(check, word):
    assert "--force needs --fix." in check("--force", "a.docx").err
