"""A job that says it is done has written everything, and loses nothing that others wrote."""

import json

import pytest

from nmspeller.apps.batch import assemble, run
from nmspeller.apps.batch.filesystem import Folder
from nmspeller.errors import InputError

LINES = "".join(f"第{number}行我己经来了。在见！\n" for number in range(50)).encode()
FIXED = LINES.replace("己".encode(), "已".encode()).replace("在".encode(), "再".encode())
BAD = "爆\n".encode()
FILES = {"a.txt": LINES, "b.txt": BAD + LINES + BAD, "c.txt": LINES + BAD}
QUARANTINE = "nmspeller-quarantine.jsonl"


@pytest.fixture
def output(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def job(correct):
    """Runs the same job each time."""

    def job(**options):
        return correct(FILES, shard_bytes=700, **options)

    return job


@pytest.fixture
def stop_in_the_last_file(job, monkeypatch):
    """Run the job until the disk is full while the last output file is written."""
    join = assemble._join_bytes

    def full(job, planned, parts, out):
        join(job, planned, parts, out)
        if planned.source.name == "c.txt":
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as context:
        context.setattr(assemble, "_join_bytes", full)
        with pytest.raises(InputError, match=r"is full"):
            job()


def is_whole(written):
    assert {name: written[name] for name in FILES} == {
        "a.txt": FIXED,
        "b.txt": FIXED,
        "c.txt": FIXED,
    }
    rows = [json.loads(line)["row"] for line in written[QUARANTINE].splitlines()]
    assert rows == [1, 52, 51]
    return True


@pytest.mark.usefixtures("stop_in_the_last_file")
def test_a_finished_file_that_was_removed_is_written_again_when_the_job_resumes(job, output, here_engine):
    (output / "a.txt").unlink()
    engine = here_engine()
    written, summary = job(engine=engine)
    assert is_whole(written)
    assert 0 < len(engine.corrected) < summary["shards"]


@pytest.mark.usefixtures("stop_in_the_last_file")
@pytest.mark.parametrize("content", [FIXED[:-1], FIXED[::-1]])
def test_a_finished_file_that_was_changed_is_reported_when_the_job_resumes(job, output, content):
    (output / "a.txt").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.txt has changed since the job wrote it; move it away"):
        job()
    assert (output / "a.txt").read_bytes() == content
    (output / "a.txt").rename(output.parent / "mine.txt")
    assert is_whole(job()[0])


def test_a_file_that_is_removed_before_the_end_is_reported_and_then_written(job, output, monkeypatch):
    write = assemble.write_quarantine

    def meddle(entries, store):
        (output / "b.txt").unlink()
        return write(entries, store)

    with monkeypatch.context() as context:
        context.setitem(run.__globals__, "write_quarantine", meddle)
        with pytest.raises(InputError, match=r"b\.txt was removed while the job ran; run the same command"):
            job()
    assert is_whole(job()[0])


def test_a_file_that_is_changed_before_the_end_is_reported(job, output, monkeypatch):
    write = assemble.write_quarantine

    def meddle(entries, store):
        (output / "b.txt").write_bytes(FIXED[::-1])
        return write(entries, store)

    monkeypatch.setitem(run.__globals__, "write_quarantine", meddle)
    with pytest.raises(InputError, match=r"b\.txt has changed since the job wrote it"):
        job()
    assert not (output / "nmspeller-batch.json").exists()


def test_shards_stay_until_their_file_was_read_back(job, output, monkeypatch):
    with monkeypatch.context() as context:
        context.setattr(Folder, "sha256", lambda folder, name: "of a disk that lies")
        with pytest.raises(InputError, match=r"a\.txt cannot be read back as it was written; check the disk"):
            job()
    assert list((output / ".nmspeller-batch" / "done").glob("*.data"))
    assert is_whole(job()[0])


@pytest.mark.usefixtures("stop_in_the_last_file")
@pytest.mark.parametrize("damage", ["removed", "cut", "changed"])
def test_the_quarantine_of_a_resumed_job_is_complete(job, output, damage):
    files = sorted((output / ".nmspeller-batch" / "done").glob("*.bad"))
    assert len(files) == 3
    for file in files:
        if damage == "removed":
            file.unlink()
        else:
            content = file.read_bytes()
            file.write_bytes(content[:-1] if damage == "cut" else content.replace(b"row", b"raw"))
    for _file in files if damage == "changed" else ():
        with pytest.raises(InputError, match="was damaged on disk; run the same command again to redo it"):
            job()
    assert is_whole(job()[0])


@pytest.mark.parametrize("removed", ["a.txt", QUARANTINE])
def test_what_was_removed_from_a_finished_job_is_written_again(job, output, removed):
    assert is_whole(job()[0])
    (output / removed).unlink()
    assert is_whole(job()[0])


def test_the_files_of_a_finished_job_are_verified_by_size_and_if_asked_by_hash(job, output):
    job()
    (output / "b.txt").write_bytes(FIXED[::-1])
    job()
    with pytest.raises(InputError, match=r"b\.txt has changed since the job wrote it"):
        job(verify=True)
    (output / "a.txt").unlink()
    with pytest.raises(InputError, match=r"b\.txt has changed since the job wrote it"):
        job()
    assert (output / "b.txt").read_bytes() == FIXED[::-1]
    (output / "b.txt").unlink()
    assert is_whole(job(verify=True)[0])
    (output / "b.txt").write_bytes(b"short")
    with pytest.raises(InputError, match=r"b\.txt has changed since the job wrote it"):
        job()
