"""A file is written whole or not at all."""

import pytest

from nmspeller.files import write_whole


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
