"""A file is written whole or not at all."""

import os
import re
from pathlib import Path

import pytest

import nmspeller
from nmspeller.files import write_whole, writing


def test_a_full_disk_leaves_what_was_before(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"before")

    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space") as told:
        write_whole(path, b"after")
    assert told.value.filename == str(path)
    assert [found.name for found in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"before"


def test_a_file_keeps_its_permissions_and_a_new_one_has_the_usual_ones(tmp_path):
    path = tmp_path / "file"
    write_whole(path, b"before")
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()
    path.chmod(0o600)
    write_whole(path, b"after")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_is_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"before")
    (tmp_path / "link").symlink_to("folder/file")
    write_whole(tmp_path / "link", b"after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "file").read_bytes() == b"after"


def test_nothing_is_written_after_an_exception(tmp_path):
    with pytest.raises(TypeError), writing(tmp_path / "file") as stream:
        stream.writelines([b"half", None])
    assert not list(tmp_path.iterdir())


def test_files_are_replaced_by_one_implementation():
    """Other ways to rename a file into place exist no more in the product and the laboratory."""
    found = [
        f"{path.name}: {line.strip()}"
        for path in (Path(nmspeller.__file__).parent).rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"os\.(replace|rename)\(|mkstemp|NamedTemporaryFile", line)
    ]
    assert sorted(found) == [
        "files.py: os.replace(corrected, kept)",
        "files.py: os.replace(corrected, target)",
        "files.py: os.replace(temporary, path)",
    ]


def _umask():
    current = os.umask(0)
    os.umask(current)
    return current
