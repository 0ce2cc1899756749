"""Whatever is given, the answer is one clear sentence and exit code 2, and no file is changed."""

import io
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from scripted_speller import KNOWN

from nmspeller.apps.cli import job
from nmspeller.apps.documents import files
from nmspeller.apps.project import config
from nmspeller.errors import InputError

RUN = [sys.executable, "-m", "nmspeller", "check"]


def refuses(result, *words):
    assert result.code == 2
    assert result.err.count("\n") == 1, result.err
    assert result.err.startswith("nmspeller: ")
    for word in words:
        assert word in result.err
    return True


@pytest.mark.parametrize("fix", [[], ["--fix"]])
@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("binary.txt", b"\x89PNG\r\n\x1a\n\0\0\0", "not a text file"),
        ("latin.txt", "Déjà vu à la carte, été où".encode("latin-1"), "byte 1 (0xe9)"),
        ("damaged.txt", "今天我门去公园，天气很好。".encode() + b"\xff" + "我门".encode(), "byte 39 (0xff)"),
        ("surrogate.txt", b"\xe4\xbd\xa0\xed\xa0\x80\xe6\x88\x91\xe9\x97\xa8", "byte 3 (0xed)"),
        ("cut.txt", "我门去公园".encode()[:-1], "byte 12"),
        ("half.txt", b"\xff\xfe\x11\x62\x95", "byte 4"),
        ("wide.txt", "我门去公园".encode("utf-32"), "is UTF-32, which is not supported; save it as UTF-8"),
        ("wide.txt", "\ufeff我门".encode("utf-32-be"), "is UTF-32, which is not supported; save it as UTF-8"),
        ("broken.docx", b"PK\x03\x04 nothing more", "Word"),
        ("empty.docx", b"", "Word"),
    ],
)
def test_content_that_is_no_text(check, tmp_path, name, content, word, fix):
    (tmp_path / name).write_bytes(content)
    assert refuses(check(name, *fix), name, word)
    assert (tmp_path / name).read_bytes() == content
    assert os.listdir(tmp_path) == [name]


OLE = bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 500
TEXT = "今天我门去公园，天气很好。"


@pytest.mark.parametrize(
    ("name", "content", "format_name", "advice"),
    [
        ("a.doc", OLE, "an old Word document (.doc)", "save it as .docx"),
        ("a.WPS", OLE, "a WPS document (.wps)", "save it as .docx"),
        ("a.ppt", OLE, "an old PowerPoint presentation (.ppt)", "save it as .pptx"),
        ("a.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document (.pdf)", "copy the text out"),
        ("renamed.txt", b"%PDF-1.4\n", "a PDF document (.pdf)", "copy the text out"),
        ("renamed.txt", OLE + "WordDocument".encode("utf-16-le"), "an old Word document", "save it as .docx"),
        ("renamed.docx", OLE + "WordDocument".encode("utf-16-le"), "an old Word document", "as .docx"),
        ("secret.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "with a password", "without the"),
        ("no-suffix", OLE, "an old Office document", "save it as .docx"),
        ("rich.doc", b"{\\rtf1\\ansi}", "a rich text document (.rtf)", "save it as .docx"),
        ("damaged.doc", b"\0\1\2", "an old Word document (.doc)", "save it as .docx"),
        ("utf16.txt", TEXT.encode("utf-16-le"), "UTF-16 without a byte order mark", "--encoding utf-16"),
        ("utf16.txt", f"{TEXT}\r\n".encode("utf-16-be"), "UTF-16 without", "--encoding utf-16"),
        ("ascii.txt", "Hello".encode("utf-16-le"), "UTF-16 without", "--encoding utf-16"),
    ],
)
def test_a_format_that_cannot_be_read_is_named_with_advice(
    check, tmp_path, name, content, format_name, advice
):
    (tmp_path / name).write_bytes(content)
    assert refuses(check("--fix", name), f"nmspeller: {name} is ", format_name, advice)
    assert (tmp_path / name).read_bytes() == content


def test_a_text_cannot_be_an_office_document(check):
    assert refuses(
        check("--format", "docx", "--text", "我门"), "--text cannot be checked as docx; give a file."
    )


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_the_advice_for_utf16_without_a_mark_works_in_both_byte_orders(check, tmp_path, codec):
    (tmp_path / "a.txt").write_bytes(TEXT.encode(codec))
    assert check("--encoding", "utf-16", "--fix", "a.txt").code == 1
    assert (tmp_path / "a.txt").read_bytes() == TEXT.replace("门", "们").encode(codec)


def test_a_plain_text_may_have_the_suffix_of_another_format(check, tmp_path):
    for codec in ("utf-8", "gb18030"):
        (tmp_path / "a.doc").write_bytes(TEXT.encode(codec))
        assert check("a.doc").out.startswith("a.doc:1:4: 门")


def test_a_zip_archive_is_no_word_document(check, tmp_path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("word/document.xml", "<broken")
    (tmp_path / "a.docx").write_bytes(archive.getvalue())
    assert refuses(check("a.docx"), "a.docx")


def test_a_word_document_that_unpacks_to_gigabytes(check, tmp_path, monkeypatch):
    from nmspeller.apps.documents import package

    monkeypatch.setattr(package, "LARGEST", 1000)
    with zipfile.ZipFile(tmp_path / "a.docx", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", b"0" * 5000)
    assert refuses(check("a.docx"), "unpacks to more")


def test_a_line_of_100_megabytes(check, tmp_path):
    with open(tmp_path / "a.txt", "wb") as file:
        file.truncate(100 * 2**20)
    assert refuses(check("a.txt"), "a.txt", "more than 64 MB")
    with open(tmp_path / "a.txt", "rb") as file:
        assert subprocess.run([*RUN, "-"], stdin=file, capture_output=True).returncode == 2


def test_missing_files_and_patterns_without_match(check):
    assert refuses(check("nothing.txt"), "nothing.txt does not exist")
    assert refuses(check("*.txt"), "*.txt")
    assert refuses(check("a\0b"), "")


def test_an_empty_name_is_not_the_current_folder(check, tmp_path):
    (tmp_path / "a.txt").write_text("我门")
    assert refuses(check("--fix", ""), "The file name is empty")
    assert (tmp_path / "a.txt").read_text() == "我门"


def test_a_pattern_that_matches_only_folders_without_prose(check, tmp_path):
    (tmp_path / "chapter").mkdir()
    assert refuses(check("ch*"), "No file matches ch*.")
    assert refuses(check("**/"), "No file matches **/.")


def test_links_that_lead_nowhere_or_in_circles(check, tmp_path):
    (tmp_path / "circle.txt").symlink_to("circle.txt")
    (tmp_path / "gone.txt").symlink_to("nowhere")
    assert refuses(check("circle.txt"), "circle.txt")
    assert refuses(check("gone.txt"), "gone.txt")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "up").symlink_to("..")
    (folder / "a.txt").write_text("好")
    assert check("folder").code == 0


def test_a_folder_without_rights(check, tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir()
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "a.txt").write_text("我门")
    scandir = os.scandir

    def guarded(path):
        if Path(path).name == "closed":  # the tests may run as root, whom no permissions stop
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    result = check(".")
    assert refuses(result, "closed", "permission denied")
    assert "open/a.txt:1:2" in result.out


@pytest.fixture
def deepest(tmp_path):
    """A file below more folders than Python can have nested calls."""
    folder = tmp_path
    for _level in range(1_100):
        folder /= "d"
        folder.mkdir()
    (folder / "a.txt").write_text("我门")
    yield (folder / "a.txt").relative_to(tmp_path)
    while folder != tmp_path:  # `shutil.rmtree` has nested calls too, and pytest uses it
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        folder = folder.parent


@pytest.mark.slow
@pytest.mark.parametrize("settings", ["", 'ignore = ["drafts/", "d/**/e/*.txt"]'])
def test_folders_that_are_nested_deeply(check, tmp_path, deepest, settings):
    (tmp_path / ".nmspeller.toml").write_text(settings)
    for name in (deepest, "d"):
        assert check(name).out.startswith(f"{deepest}:1:2: ")
    result = check("**/*.txt")
    assert result.out.startswith(f"{deepest}:1:2: ") or refuses(result, "nested too deeply; name a folder")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(check, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("我门")
    folder.chmod(0o500)
    try:
        assert refuses(check("--fix", "folder/a.txt"), "cannot be written")
        assert (folder / "a.txt").read_text() == "我门"
    finally:
        folder.chmod(0o700)


def test_a_read_only_file_stays_as_it_is(check, tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("我门")
    file.chmod(0o444)
    assert refuses(check("--fix", "--backup", "a.txt"), "a.txt cannot be written: permission denied.")
    assert check("--fix", "a.txt").out == "a.txt:1:2: 门 → 们 (same sound, 0.99)\n"
    assert "1 error found in 1 file." in check("--fix", "a.txt", "-o", "terminal").out
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "我门"}


@pytest.mark.parametrize("output", ["a.txt", "link.html", "known.txt"])
def test_a_report_takes_the_place_of_no_input(check, tmp_path, output):
    for name in ("a.txt", "known.txt"):
        (tmp_path / name).write_text("我门")
    (tmp_path / "link.html").symlink_to("a.txt")
    report = ("-o", "html", "--output", output, "--words", "known.txt")
    assert refuses(check("a.txt", *report), f"{output} is an input")
    assert (tmp_path / "a.txt").read_text() == (tmp_path / "known.txt").read_text() == "我门"


def test_a_pipe_is_checked_but_not_corrected_in_place(check, tmp_path):
    os.mkfifo(tmp_path / "pipe")

    def write():
        (tmp_path / "pipe").write_text("我门")

    for options in ([], ["--fix"]):
        writer = threading.Thread(target=write)
        writer.start()
        result = check(*options, "pipe")
        writer.join()
        assert refuses(result, "pipe is a pipe or a device") if options else result.code == 1
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.server
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_bug(tmp_path, closed):
    (tmp_path / "a.txt").write_text("no prose")
    call = ["sh", "-c", f'"$@" {closed}', "sh", *RUN, "a.txt", "-", "absent.txt"]
    done = subprocess.run(call, cwd=tmp_path, input=b"", capture_output=True)
    assert done.returncode == 2
    assert done.stdout == b""
    sentences = [b"nmspeller: absent.txt does not exist."]
    if closed == "<&-":
        sentences.append(b"nmspeller: Standard input is closed; give a file, or redirect standard input.")
    errors = [line for line in done.stderr.splitlines() if line.startswith(b"nmspeller: ")]
    assert errors == ([] if "2>&-" in closed else sentences)
    assert done.stderr.count(b"\n") == (0 if "2>&-" in closed else len(errors) + 1)


def test_a_full_disk_leaves_the_file_as_it_was(check, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("我门")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert refuses(check("--fix", "a.txt"), "a.txt cannot be written: no space left on device")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "我门"}


def test_a_file_that_someone_changes_meanwhile_is_left_alone(check, speller, tmp_path, monkeypatch):
    file = tmp_path / "a.txt"
    file.write_text("我门")
    read = speller.model.read

    def slow(parts, level):
        file.write_text("别人写的我门")
        return read(parts, level)

    monkeypatch.setattr(speller.model, "read", slow)
    assert refuses(check("--fix", "a.txt"), "changed while")
    assert file.read_text() == "别人写的我门"


def test_a_character_that_the_encoding_lacks(check, tmp_path, monkeypatch):
    monkeypatch.setitem(KNOWN, "学校", ("学𠮷", 0.9))
    raw = "請看，我門在這裡，這是我們的學校。".encode("big5")
    (tmp_path / "a.txt").write_bytes(raw)
    assert refuses(check("--fix", "a.txt"), "a.txt", "big5")
    assert (tmp_path / "a.txt").read_bytes() == raw


def test_undecodable_arguments():
    result = subprocess.run([*RUN, "--text", b"\xe6\x88\x91\xff"], capture_output=True)
    assert result.returncode == 2
    assert result.stderr.count(b"\n") == 1
    assert b"character 1" in result.stderr


def test_the_good_files_are_checked_all_the_same(check, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"\0")
    (tmp_path / "good.txt").write_text("我门")
    result = check("missing.txt", "bad.txt", "good.txt", "--fix")
    assert result.code == 2
    assert result.err.count("nmspeller: ") == 2
    assert result.out.startswith("good.txt:1:2")
    assert (tmp_path / "good.txt").read_text() == "我们"


def test_empty_input_is_clean(check, tmp_path):
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "mark.txt").write_bytes(b"\xef\xbb\xbf")
    assert check("empty.txt", "mark.txt").code == 0
    assert check("-", stdin=b"").code == 0
    assert check("--text", "").code == 0


def test_a_word_list_that_is_not_there(check):
    assert refuses(check("--text", "我门", "--words", "nothing.txt"), "nothing.txt")


def test_unreadable_files_say_why(check, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("好")

    def denied(stream, name):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files, "read_stream", denied)
    assert refuses(check("a.txt"), "a.txt cannot be read: permission denied")


def test_a_model_that_cannot_be_loaded_is_tried_and_rejected_once(check, tmp_path, monkeypatch):
    tried = []

    def load(model, lists, prefilter, rules):
        tried.append(model)
        raise InputError(f"{model} is damaged.")

    monkeypatch.setattr(job, "load_speller", load)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("我门")
    assert refuses(check("a.txt", "b.txt", "--model", "broken"), "broken is damaged")
    assert tried == [Path("broken")]


def test_what_many_files_share_is_rejected_once(check, tmp_path):
    for name in ("bad/a.txt", "bad/b.txt", "bad/deep/c.txt", "good/d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("我门")
    for settings, complaint in (("x = ", "is not TOML"), ('words = "absent.txt"', "bad/absent.txt")):
        (tmp_path / "bad" / ".nmspeller.toml").write_text(settings)
        config.forget()
        result = check("bad", "good")
        assert refuses(result, complaint)
        assert result.out.startswith("good/d.txt:1:2: ")
    (tmp_path / "bad" / ".nmspeller.toml").unlink()
    config.forget()
    assert refuses(check("bad", "good", "--words", "nowhere.txt"), "nowhere.txt")


def test_a_link_that_leads_nowhere_does_not_stop_a_folder(check, tmp_path):
    (tmp_path / "a.txt").write_text("我们")
    (tmp_path / "b.txt").symlink_to("nowhere")
    result = check(".")
    assert (result.code, result.err) == (0, "nmspeller: b.txt is a link that leads nowhere.\n")
    assert refuses(check("b.txt"), "b.txt cannot be read")


def test_standard_input_has_no_backup(check):
    result = check("-", "--fix", "--backup", stdin="我门".encode())
    assert (result.code, result.raw) == (1, "我们".encode())
    assert result.err == "Standard input is not changed, so --backup keeps nothing of it.\n"


def test_a_name_that_is_no_utf8_can_be_told(tmp_path):
    (tmp_path / os.fsdecode(b"\xff.txt")).write_text("我门")
    done = subprocess.run(
        [*RUN[:-1], "check", "--fix", "."],
        cwd=tmp_path,
        capture_output=True,
    )
    assert b"Traceback" not in done.stderr
    assert b".txt" in done.stderr
