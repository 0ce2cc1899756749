"""Which files a job reads: folders, patterns, odd names, and what is refused."""

import errno
import json
import os

import pytest

from nmspeller.apps.batch import BatchJob, SpellerSettings, run
from nmspeller.apps.batch.local import LocalEngine
from nmspeller.apps.batch.summary import as_text
from nmspeller.errors import InputError

STAND_IN = SpellerSettings(factory="stand_in_speller:StandIn")


@pytest.mark.parametrize(
    "name",
    ["a::b.txt", os.fsdecode(b"\xff.txt"), "新" * 83 + ".txt"],
    ids=["colons", "not UTF-8", "as long as can be"],
)
def test_any_name_of_a_file_will_do(correct, tmp_path, name):
    written, summary = correct({name: "己\n爆\n".encode()}, engine=LocalEngine(1))
    assert written.pop(name).decode() == "已\n"
    shown = os.fsencode(str(tmp_path / "in" / name)).decode(errors="backslashreplace")
    assert json.loads(written["nmspeller-quarantine.jsonl"])["file"] == shown
    assert shown in as_text(summary, str(tmp_path / name)).encode().decode()
    assert correct({name: "己\n爆\n".encode()})[1] == summary


def test_folders_patterns_and_subfolders(tmp_path, here_engine, capsys):
    for name in ("b.txt", "a/c.txt", "a/ignored.bin", ".hidden/d.txt"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("己\n")
    run(BatchJob((str(tmp_path / "in"),), str(tmp_path / "out"), speller=STAND_IN), here_engine())
    assert sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.*")) == [
        "a/c.txt",
        "b.txt",
        "nmspeller-batch.json",
    ]
    assert "1 file in" in (said := capsys.readouterr().err)
    assert said.endswith("is skipped (.bin).\n")
    run(BatchJob((str(tmp_path / "in" / "*.txt"),), str(tmp_path / "out2"), speller=STAND_IN), here_engine())
    assert (tmp_path / "out2" / "b.txt").read_text() == "已\n"


def test_a_subfolder_that_cannot_be_read_is_not_passed_over(tmp_path, here_engine, monkeypatch):
    (tmp_path / "in" / "closed").mkdir(parents=True)
    (tmp_path / "in" / "a.txt").write_text("己\n")

    def scan(path, truly=os.scandir):
        # Tests may run as root, who can read everything.
        if os.fspath(path).endswith("closed"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return truly(path)

    monkeypatch.setattr(os, "scandir", scan)
    with pytest.raises(InputError, match="closed: Permission denied"):
        run(BatchJob((str(tmp_path / "in"),), str(tmp_path / "out"), speller=STAND_IN), here_engine())


@pytest.mark.parametrize("given", ["in", "in/pipe.txt"])
def test_a_pipe_is_rejected_and_not_waited_for(tmp_path, here_engine, given):
    (tmp_path / "in").mkdir()
    os.mkfifo(tmp_path / "in" / "pipe.txt")
    with pytest.raises(InputError, match=r"in/pipe\.txt is a pipe"):
        run(BatchJob((str(tmp_path / given),), str(tmp_path / "out"), speller=STAND_IN), here_engine())


def test_a_link_to_a_folder_is_not_followed(tmp_path, here_engine):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text("己\n")
    (tmp_path / "in" / "round").symlink_to(tmp_path / "in")
    run(
        BatchJob((str(tmp_path / "in"),), str(tmp_path / "out"), format="text", speller=STAND_IN),
        here_engine(),
    )
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a", "nmspeller-batch.json"]


@pytest.mark.parametrize(
    ("inputs", "output", "says"),
    [
        (["none.txt"], "out", "does not exist"),
        (["a.dat"], "out", "--format"),
        (["a.md"], "out", "nmspeller check --fix"),
        (["a.txt", "sub/a.txt"], "out", "both be written to a.txt"),
        (["a.txt"], ".", "inside OUTPUT"),
        (["sub"], "sub/out", "inside the input"),
        (["a.txt"], "a.dat", "is a file"),
        (["a.txt"], "sub", "exists already"),
        (["empty"], "out", "contains no file"),
        (["nowhere://a.txt"], "out", "cannot be reached"),
    ],
)
def test_what_cannot_be_done_is_rejected_in_a_sentence(tmp_path, here_engine, inputs, output, says):
    (tmp_path / "sub").mkdir()
    (tmp_path / "empty").mkdir()
    for name in ("a.txt", "a.dat", "a.md", "sub/a.txt"):
        (tmp_path / name).write_text("己\n")
    given = tuple(name if "://" in name else str(tmp_path / name) for name in inputs)
    with pytest.raises(InputError, match=says):
        run(BatchJob(given, str(tmp_path / output), speller=STAND_IN), here_engine())
    assert (tmp_path / "sub" / "a.txt").read_text() == "己\n"
