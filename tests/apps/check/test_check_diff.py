"""What `--diff` prints makes of a file, by way of `patch`, exactly what `--fix` writes."""

import subprocess

import docx
import pytest
from scripted_speller import KNOWN

from nmspeller.apps.reports.diff import unified

WRONG, RIGHT = "今天下午我门去公圆。\n", "今天下午我们去公园。\n"


def patched(diff, folder, *command):
    subprocess.run(command or ["patch", "-p1", "--binary"], input=diff, cwd=folder, check=True)


@pytest.mark.parametrize("command", [["patch", "-p1", "--binary"], ["git", "apply", "-"]])
@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("a.txt", "utf-8-sig"),
        ("文章.txt", "gb18030"),
        ("two words.txt", "utf-8"),
        ('tab\t, "quotes", back\\slash and\nline.txt', "utf-8"),
    ],
)
def test_the_diff_does_what_fix_does(check, tmp_path, name, encoding, command):
    file = tmp_path / name
    file.write_bytes(WRONG.encode(encoding))
    result = check("-o", "diff", name)
    assert (result.code, result.err) == (1, "")
    patched(result.raw, tmp_path, *command)
    assert file.read_bytes() == RIGHT.encode(encoding)


def test_a_name_that_the_file_s_encoding_lacks(check, tmp_path):
    file = tmp_path / "说.txt"
    file.write_bytes("今天下午我門去圖書館看書。\n".encode("big5"))
    patched(check("-o", "diff", file.name).raw, tmp_path)
    assert file.read_bytes() == "今天下午我們去圖書館看書。\n".encode("big5")


def test_names_stand_in_the_header_as_git_writes_them(check, tmp_path):
    (tmp_path / "a b.txt").write_text(WRONG)
    (tmp_path / 'a"\x1b\n.txt').write_text(WRONG)
    assert check("-o", "diff", "a b.txt").out.startswith("--- a/a b.txt\t\n+++ b/a b.txt\t\n@@")
    assert check("-o", "diff", 'a"\x1b\n.txt').out.startswith(
        '--- "a/a\\"\\033\\n.txt"\n+++ "b/a\\"\\033\\n.txt"\n@@'
    )


def test_an_absolute_path_applies_from_the_root(check, tmp_path):
    (tmp_path / "a.txt").write_text(WRONG)
    result = check("-o", "diff", tmp_path / "a.txt")
    assert result.out.startswith(f"--- a{tmp_path}/a.txt\n+++ b{tmp_path}/a.txt\n@@")


def test_a_correction_that_the_encoding_lacks_is_rejected_as_fix_rejects_it(check, tmp_path, monkeypatch):
    monkeypatch.setitem(KNOWN, "学校", ("学𠮷", 0.9))
    (tmp_path / "a.txt").write_bytes("這是我們的學校。".encode("big5"))
    result = check("-o", "diff", "a.txt")
    assert (result.code, result.out) == (2, "")
    assert "big5" in result.err
    assert result.err == check("--fix", "a.txt").err


def test_utf16_has_no_text_diff(check, tmp_path):
    (tmp_path / "wrong.txt").write_text(WRONG, encoding="utf-16")
    (tmp_path / "right.txt").write_text(RIGHT, encoding="utf-16")
    result = check("-o", "diff", "wrong.txt")
    assert (result.code, result.out) == (2, "")
    assert result.err == "nmspeller: wrong.txt is UTF-16, which a text diff cannot hold; use --fix.\n"
    assert check("-o", "diff", "right.txt").code == 0


def test_a_word_document_has_a_diff_of_its_text_for_reading(check, tmp_path):
    document = docx.Document()
    for line in ("前一段。", "我门去公园。", "后一段。"):
        document.add_paragraph(line)
    document.save(str(tmp_path / "a.docx"))
    before = (tmp_path / "a.docx").read_bytes()
    result = check("-o", "diff", "a.docx")
    assert (result.code, result.err) == (1, "")
    assert result.out == (
        "# a.docx: the text of the document, for reading; --fix corrects the document itself.\n"
        "--- a/a.docx (text)\t\n+++ b/a.docx (text)\t\n@@ -1,3 +1,3 @@\n"
        " 前一段。\n-我门去公园。\n+我们去公园。\n 后一段。\n"
    )
    assert (tmp_path / "a.docx").read_bytes() == before


def test_beside_a_word_document_patch_still_corrects_the_text_files(check, tmp_path):
    document = docx.Document()
    document.add_paragraph("我门去公园。")
    document.save(str(tmp_path / "a.docx"))
    (tmp_path / "b.txt").write_text(WRONG)
    before = (tmp_path / "a.docx").read_bytes()
    diff = check("-o", "diff", "a.docx", "b.txt").raw
    subprocess.run(["patch", "-p1", "--binary", "--force"], input=diff, cwd=tmp_path)
    assert (tmp_path / "b.txt").read_text() == RIGHT
    assert (tmp_path / "a.docx").read_bytes() == before


@pytest.mark.parametrize(
    ("before", "after"), [("好\n错", "好\n"), ("错", ""), ("错\n" + "好\n" * 9 + "错", "对\n" + "好\n" * 9)]
)
def test_a_last_line_without_an_end_may_vanish(tmp_path, before, after):
    (tmp_path / "a.txt").write_text(before)
    patched(b"".join(unified("a.txt", before.encode(), after.encode())), tmp_path)
    assert (tmp_path / "a.txt").read_text() == after
