"""Full disks, closed folders and Ctrl-C in a real terminal: one sentence each, and every file whole."""

import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from tmux_terminal import Terminal, is_installed

import nmspeller

PROGRAM = [sys.executable, str(Path(__file__).with_name("scripted_speller.py")), "check"]
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": str(Path(nmspeller.__file__).parents[1]),
    "PYTHONDONTWRITEBYTECODE": "1",
    "LANG": "C.UTF-8",
}
WRONG, RIGHT = ("很好。\n" * 4000 + text for text in ("我门", "我们"))  # 40 kB
NOBODY = 65534


def call(*arguments, folder, before=(), **options):
    return subprocess.run(
        [*before, *PROGRAM, *arguments],
        cwd=folder,
        env={**ENVIRONMENT, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.skipif(not is_installed(), reason="tmux is not installed")
def test_ctrl_c_at_random_moments_while_files_are_being_corrected(tmp_path):
    seed = time.time_ns()
    chance = random.Random(seed)
    for turn in range(3):
        folder = tmp_path / str(turn)
        folder.mkdir()
        names = [f"{number:02}.txt" for number in range(40)]
        for name in names:
            (folder / name).write_text(WRONG)
        command = [*PROGRAM, "--fix", "--output-format", "plain", *names]
        with Terminal(command, folder, SECONDS_A_CHECK="0.02") as terminal:
            terminal.wait_for("Corrected 00.txt.")
            time.sleep(chance.uniform(0, 1.5))
            terminal.press("C-c")
            assert terminal.exit_code() == 130, seed
            screen = terminal.screen()
        assert "Traceback" not in screen
        assert sorted(os.listdir(folder)) == names, seed
        corrected = {name for name in names if (folder / name).read_text() == RIGHT}
        assert corrected < set(names), seed  # it was in the middle of its work
        assert {(folder / name).read_text() for name in set(names) - corrected} == {WRONG}, seed
        reported = set(re.findall(r"Corrected (\d\d\.txt)", screen))
        shown = set(re.findall(r"(\d\d\.txt):4001:2: 门 → 们", screen))
        # The file of that very moment may be corrected and not yet reported.
        assert reported <= corrected, seed
        assert len(corrected - reported) <= 1, seed
        assert shown <= reported, seed
        assert len(reported - shown) <= 1, seed


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_leaves_the_original_and_no_other_file(small_disk):
    (small_disk / "a.txt").write_text(WRONG)
    (small_disk / "b.txt").write_text("我门")
    done = call("--fix", "a.txt", "b.txt", folder=small_disk)
    assert done.returncode == 2
    assert "nmspeller: a.txt cannot be written: no space left on device.\n" in done.stderr
    assert contents(small_disk) == {"a.txt": WRONG, "b.txt": "我们"}  # for which there was room


def test_a_baseline_that_does_not_fit_leaves_the_old_one(small_disk, tmp_path):
    lines = [f"第{number}次我门去公圆。\n" for number in range(800)]
    (tmp_path / "a.txt").write_text("".join(lines[:3]))
    update = ("--baseline", "disk/known.json", "--update-baseline")
    assert call("a.txt", *update, folder=tmp_path).returncode == 0
    before = contents(small_disk)
    (tmp_path / "a.txt").write_text("".join(lines))
    done = call("a.txt", *update, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("nmspeller: disk/known.json cannot be used: No space left on device")
    assert done.stderr.count("\n") == 1
    assert contents(small_disk) == before


def test_a_limit_on_file_sizes_is_like_a_full_disk(tmp_path):
    (tmp_path / "a.txt").write_text(WRONG)
    done = call(
        *("--fix", "--backup", "a.txt"),
        folder=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
    )
    assert done.returncode == 2
    assert done.stderr == "nmspeller: a.txt cannot be written: file too large.\n"
    assert contents(tmp_path) == {"a.txt": WRONG}


@pytest.fixture
def ordinary_user():
    """What to put before a command so that permissions apply to it, and a folder that it can enter."""
    before = []
    if os.getuid() == 0:
        before = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        try:
            subprocess.run([*before, *PROGRAM, "--help"], env=ENVIRONMENT, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("no command can be run as an ordinary user here")
    folder = Path(tempfile.mkdtemp(prefix="nmspeller-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield before, folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700)
    shutil.rmtree(folder)


def test_what_an_ordinary_user_may_not_do_is_said_in_one_sentence_each(ordinary_user):
    before, folder = ordinary_user
    closed = folder / "closed"
    closed.mkdir()
    for name in ("mine.txt", "read_only.txt", "secret.txt"):
        (closed / name).write_text("我门")
    (closed / "mine.txt").chmod(0o666)
    (closed / "read_only.txt").chmod(0o444)
    (closed / "secret.txt").chmod(0o000)
    closed.chmod(0o555)
    done = call("--fix", "closed", folder=folder, before=before)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        # The file may be written, but no other can be put in its place, and it is never written in part.
        "nmspeller: closed/mine.txt cannot be written: permission denied.",
        "nmspeller: closed/read_only.txt cannot be written: permission denied.",
        "nmspeller: closed/secret.txt cannot be read: permission denied.",
    ]
    for path in closed.iterdir():
        path.chmod(0o600)
    assert contents(closed) == dict.fromkeys(("mine.txt", "read_only.txt", "secret.txt"), "我门")
    done = call("closed", "--baseline", "known.json", "--update-baseline", folder=folder, before=before)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (folder / "known.json").exists()


@pytest.mark.skipif(not is_installed(), reason="tmux is not installed")
def test_a_review_goes_on_where_decisions_and_words_cannot_be_written(tmp_path):
    (tmp_path / "a.txt").write_text("我门去公圆。")
    (tmp_path / "state").write_text("a file where a folder should be")
    (tmp_path / "known.txt").write_text("公园\n")
    with Terminal([*PROGRAM[:-1], "review", "--words", "known.txt", "a.txt"], tmp_path) as terminal:
        terminal.wait_for("1/2")
        terminal.press("a")
        terminal.wait_for("Decisions cannot be kept for later")
        terminal.wait_for("2/2")
        terminal.press("w")
        terminal.wait_for("公圆")
        terminal.press("Enter")
        terminal.wait_for("Save 1 correction and 1 word?")
        (tmp_path / "known.txt").unlink()
        (tmp_path / "known.txt").mkdir()
        terminal.press("Enter")
        assert terminal.exit_code() == 2
        assert "“公圆” could not be added to known.txt" in terminal.screen()
        assert "Traceback" not in terminal.screen()
    assert (tmp_path / "a.txt").read_text() == "我们去公圆。"
