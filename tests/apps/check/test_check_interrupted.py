"""A real process, interrupted or killed: every file is whole, either as it was or corrected."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.waiting import wait_until

PROGRAM = [sys.executable, str(Path(__file__).with_name("scripted_speller.py")), "check", "--fix"]
WRONG, RIGHT = "我门去公圆。\n" * 500, "我们去公园。\n" * 500


def listen_to_interrupts():
    """A suite that a shell runs in the background is deaf to SIGINT, and so would be what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_file_is_half_written(tmp_path, number):
    paths = [tmp_path / f"{index:03}.txt" for index in range(80)]
    for path in paths:
        path.write_text(WRONG)
    environment = {**os.environ, "SECONDS_A_CHECK": "0.01"}
    process = subprocess.Popen(
        [*PROGRAM, "."],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=listen_to_interrupts,
    )
    wait_until(lambda: paths[5].read_text() == RIGHT)
    process.send_signal(number)
    errors = process.communicate(timeout=120)[1].decode()
    assert process.returncode in (130, 143, -number)
    assert "Traceback" not in errors
    contents = [path.read_text() for path in paths]
    assert set(contents) == {WRONG, RIGHT}
    if number != signal.SIGKILL:  # whoever is killed cannot clean up
        assert sorted(os.listdir(tmp_path)) == [path.name for path in paths]


def test_findings_of_a_long_file_come_one_by_one_and_an_interrupt_keeps_them(tmp_path):
    (tmp_path / "a.txt").write_text("我门去公圆。\n" * 8_000)
    process = subprocess.Popen(
        [*PROGRAM[:-1], "a.txt"],
        cwd=tmp_path,
        bufsize=0,
        env={**os.environ, "SECONDS_A_CHECK": "3"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=listen_to_interrupts,
    )
    first = process.stdout.readline().decode()
    assert first.startswith("a.txt:1:2: 门 → 们")
    assert process.poll() is None
    time.sleep(1)  # the first findings are printed, the next are three seconds away
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert rest.decode().startswith("a.txt:1:5: 圆 → 园")
    assert rest.endswith(b"\n")
    assert rest.count(b"\n") < 1_000  # of 16,000: the rest was not checked


def test_an_interrupt_while_writing_leaves_the_original_and_nothing_else(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text(WRONG)
    program = (
        "import os, sys, time\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from scripted_speller import ScriptedSpeller\n"
        "from nmspeller.__main__ import run\n"
        "from nmspeller.apps.cli import job\n"
        "job.load_speller = lambda model, lists, prefilter, rules: ScriptedSpeller()\n"
        "def stuck(descriptor):\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
        "os.fsync = stuck\n"
        "sys.exit(run(['check', '--fix', 'a.txt']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(Path(__file__).parent)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=listen_to_interrupts,
    )
    assert process.stdout.readline() == b"writing\n"
    assert len(os.listdir(tmp_path)) == 2
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert os.listdir(tmp_path) == ["a.txt"]
    assert file.read_text() == WRONG
