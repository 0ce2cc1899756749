"""A file is corrected whole or not at all, and what another program writes meanwhile is never lost."""

import os
import threading
import time
from contextlib import contextmanager

import pytest

from nmspeller import files
from nmspeller.apps.documents.files import replace
from nmspeller.apps.documents.leases import StillOpen, without_writers
from nmspeller.errors import InputError

BEFORE, AFTER, THEIRS = b"old text", b"new text", b"not ours"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(BEFORE)
    return path


def in_place(path):
    """Same size, and the times of before: only the content shows it."""
    times = path.stat()
    path.write_bytes(THEIRS)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def by_renaming(path):
    other = path.with_name("other")
    other.write_bytes(THEIRS)
    os.replace(other, path)


@pytest.mark.parametrize("backup", [False, True])
@pytest.mark.parametrize("edit", [in_place, by_renaming])
def test_an_edit_while_the_new_file_is_written_is_kept(file, monkeypatch, edit, backup):
    synced = os.fsync

    def edit_meanwhile(descriptor):
        if file.read_bytes() == BEFORE:
            edit(file)
        synced(descriptor)

    monkeypatch.setattr("os.fsync", edit_meanwhile)
    with pytest.raises(InputError, match=r"a\.txt changed .* left alone; .* in .*a\.txt\.corrected"):
        replace(file, AFTER, expected=BEFORE, backup=backup)
    assert file.read_bytes() == THEIRS
    assert file.with_name("a.txt.corrected").read_bytes() == AFTER
    assert names(file.parent) == ["a.txt", "a.txt.corrected"]


def test_an_edit_between_the_last_comparison_and_its_end_is_kept(file, monkeypatch):
    read = type(file).read_bytes

    def edit_after_reading(path):
        content = read(path)
        if path == file and content == BEFORE:
            path.write_bytes(THEIRS + THEIRS)
        return content

    monkeypatch.setattr(type(file), "read_bytes", edit_after_reading)
    with pytest.raises(InputError, match="left alone"):
        replace(file, AFTER, expected=BEFORE)
    monkeypatch.undo()
    assert file.read_bytes() == THEIRS + THEIRS


@pytest.mark.parametrize("edit", [in_place, by_renaming])
def test_an_edit_right_after_the_last_comparison_is_kept(file, monkeypatch, edit):
    if not files.exchange(file, file):
        pytest.skip("two files can change names in one step on Linux only")

    def edit_before(one, other):
        if file.read_bytes() == BEFORE:
            edit(file)
        return files.exchange(one, other)

    monkeypatch.setattr("nmspeller.apps.documents.files.exchange", edit_before)
    with pytest.raises(InputError, match="left alone"):
        replace(file, AFTER, expected=BEFORE)
    assert file.read_bytes() == THEIRS
    assert file.with_name("a.txt.corrected").read_bytes() == AFTER
    assert names(file.parent) == ["a.txt", "a.txt.corrected"]


@pytest.fixture
def leases(file):
    """Skips where the system does not tell who has a file open."""
    with open(file, "ab"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("nmspeller.apps.documents.leases._PATIENCE", 0)
        try:
            with without_writers(file):
                pytest.skip("this system or file system has no leases")
        except StillOpen:
            return


@pytest.fixture
def open_writer(file, monkeypatch):
    """A program that opens the file right before it is replaced, and has it open."""
    opened = []

    def open_before(one, other):
        if not opened:
            opened.append(open(file, "r+b", buffering=0))  # noqa: SIM115
        return files.exchange(one, other)

    monkeypatch.setattr("nmspeller.apps.documents.files.exchange", open_before)
    yield opened
    for each in opened:
        each.close()


def test_what_a_program_writes_after_the_file_was_replaced_is_kept(file, leases, open_writer, monkeypatch):
    def write_while_it_is_waited_for(seconds):
        open_writer[0].write(THEIRS)
        open_writer[0].close()

    monkeypatch.setattr("time.sleep", write_while_it_is_waited_for)
    with pytest.raises(InputError, match=r"a\.txt changed .* left alone; .* in .*a\.txt\.corrected"):
        replace(file, AFTER, expected=BEFORE)
    assert file.read_bytes() == THEIRS
    assert names(file.parent) == ["a.txt", "a.txt.corrected"]


def test_a_file_that_a_program_has_open_to_write_is_left_alone(file, leases, open_writer, monkeypatch):
    monkeypatch.setattr("nmspeller.apps.documents.leases._PATIENCE", 0)
    with pytest.raises(InputError, match=r"a\.txt is open for writing .* in .*a\.txt\.corrected"):
        replace(file, AFTER, expected=BEFORE)
    open_writer[0].write(THEIRS)
    assert file.read_bytes() == THEIRS
    assert file.with_name("a.txt.corrected").read_bytes() == AFTER


def test_a_program_that_is_about_to_open_the_file_finds_it_in_its_place(file, leases, monkeypatch):
    """It has found the old file under its name, but has not opened it when that is exchanged."""

    def write(path):
        with open(path, "r+b", buffering=0) as old:
            old.write(THEIRS)

    writers = []

    @contextmanager
    def with_late_writer(path):
        with without_writers(path) as nobody_waits:
            writers.append(threading.Thread(target=write, args=(path,)))
            writers[0].start()
            end = time.monotonic() + 30
            while nobody_waits() and time.monotonic() < end:
                time.sleep(0.01)
            yield nobody_waits

    monkeypatch.setattr("nmspeller.apps.documents.files.without_writers", with_late_writer)
    with pytest.raises(InputError, match="left alone"):
        replace(file, AFTER, expected=BEFORE)
    writers[0].join()
    assert file.read_bytes() == THEIRS
    assert names(file.parent) == ["a.txt", "a.txt.corrected"]


def test_a_system_that_cannot_exchange_files_replaces_them(file, monkeypatch):
    monkeypatch.setattr("nmspeller.apps.documents.files.exchange", lambda one, other: False)
    replace(file, AFTER, expected=BEFORE)
    assert file.read_bytes() == AFTER
    assert names(file.parent) == ["a.txt"]


def test_a_file_that_is_gone_does_not_come_back(file, monkeypatch):
    synced = os.fsync

    def remove_meanwhile(descriptor):
        file.unlink(missing_ok=True)
        synced(descriptor)

    monkeypatch.setattr("os.fsync", remove_meanwhile)
    with pytest.raises(InputError, match="left alone"):
        replace(file, AFTER, expected=BEFORE)
    assert names(file.parent) == ["a.txt.corrected"]


def test_corrected_texts_that_were_kept_before_are_not_overwritten(file):
    for number in ("", "2"):
        file.with_name(f"a.txt.corrected{number}").write_bytes(THEIRS)
    with pytest.raises(InputError, match="corrected3"):
        replace(file, AFTER, expected=b"something else")
    assert file.with_name("a.txt.corrected2").read_bytes() == THEIRS


@pytest.mark.parametrize("content", [b"short", AFTER, b"much longer than before"])
def test_all_names_of_a_file_have_the_corrected_text(file, content):
    os.link(file, file.with_name("b.txt"))
    kept = replace(file, content, expected=BEFORE, backup=True)
    assert file.read_bytes() == file.with_name("b.txt").read_bytes() == content
    assert file.samefile(file.with_name("b.txt"))
    assert kept == file.with_name("a.txt.bak")
    assert names(file.parent) == ["a.txt", "a.txt.bak", "b.txt"]


def test_a_file_of_many_names_is_as_before_after_an_error(file, monkeypatch):
    os.link(file, file.with_name("b.txt"))
    synced, failures = os.fsync, [OSError(28, "No space left on device")]

    def full(descriptor):
        if file.read_bytes() == AFTER:
            raise failures.pop()
        synced(descriptor)

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="no space left"):
        replace(file, AFTER, expected=BEFORE)
    assert file.read_bytes() == file.with_name("b.txt").read_bytes() == BEFORE
    assert names(file.parent) == ["a.txt", "b.txt"]


def test_permissions_are_kept_also_those_of_the_backup(file):
    file.chmod(0o640)
    kept = replace(file, AFTER, expected=BEFORE, backup=True)
    assert [path.stat().st_mode & 0o777 for path in (file, kept)] == [0o640, 0o640]
    assert kept.read_bytes() == BEFORE
