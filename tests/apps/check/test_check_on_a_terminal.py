"""What a real terminal gets to see: colours where it has them, and a bar when the work takes long."""

import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

PROGRAM = [sys.executable, str(Path(__file__).with_name("scripted_speller.py")), "check"]


def run_on_a_terminal(arguments, folder, **environment):
    """Standard output and standard error, each on a terminal of its own."""
    received = {}
    ends = {name: pty.openpty() for name in ("stdout", "stderr")}

    def listen(name, master):
        pieces = []
        try:
            while piece := os.read(master, 65536):
                pieces.append(piece)
        except OSError:  # Linux says so when the other end is closed
            pass
        received[name] = b"".join(pieces).decode()

    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        cwd=folder,
        env={
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "TERM": "xterm-256color",
            "COLUMNS": "80",
            **environment,
        },
        **{name: slave for name, (_, slave) in ends.items()},
    )
    threads = [threading.Thread(target=listen, args=(name, master)) for name, (master, _) in ends.items()]
    for thread in threads:
        thread.start()
    for _, slave in ends.values():
        os.close(slave)
    process.wait(60)
    for thread in threads:
        thread.join(60)
    for master, _ in ends.values():
        os.close(master)
    return received["stdout"], received["stderr"]


def test_colours_on_a_terminal_unless_they_are_not_wanted(tmp_path):
    (tmp_path / "a.txt").write_text("我门")
    out, err = run_on_a_terminal(["a.txt"], tmp_path)
    assert "\x1b[1;31m门" in out
    assert "门" not in err  # on a busy machine a progress bar comes and goes there
    out, _ = run_on_a_terminal(["a.txt"], tmp_path, NO_COLOR="1")
    assert "31m" not in out
    assert "门 → 们" in out


def test_a_corrected_text_comes_without_a_summary(tmp_path):
    out, err = run_on_a_terminal(["--fix", "--text", "我门"], tmp_path)
    assert out == "我们"
    assert "found" not in err


def test_the_report_of_a_text_does_not_speak_of_files(tmp_path):
    for text, summary in (("我门", "1 error found in the text."), ("很好", "No findings in the text.")):
        out, _ = run_on_a_terminal(["--text", text], tmp_path)
        assert summary in out
        assert "file" not in out


def test_the_diff_is_coloured_too(tmp_path):
    (tmp_path / "a.txt").write_text("我门")
    out, _ = run_on_a_terminal(["-o", "diff", "a.txt"], tmp_path)
    assert "\x1b[32m+我们" in out


def test_the_bar_of_a_long_file_is_drawn_after_the_first_thousands_of_characters(tmp_path):
    (tmp_path / "a.txt").write_text("很好，" * 100 + "\n" + ("很好，" * 100 + "\n") * 40)
    _, err = run_on_a_terminal(["a.txt"], tmp_path, SECONDS_A_CHECK="0.6")
    first_share = int(err.split("%")[0].split()[-1])
    assert first_share <= 10


def test_a_long_file_is_shown_in_parts_under_one_name(tmp_path):
    (tmp_path / "a.txt").write_text("我门去公园玩。\n" * 1000)
    out, _ = run_on_a_terminal(["a.txt"], tmp_path, NO_COLOR="1")
    assert out.count("a.txt") == 1
    assert "1000 errors found in 1 file." in out.replace(",", "")


def test_a_bar_shows_when_the_work_takes_long_and_leaves_standard_output_alone(tmp_path):
    (tmp_path / "a.txt").write_text(("很好，" * 5000 + "\n") * 4)
    out, err = run_on_a_terminal(["a.txt"], tmp_path, SECONDS_A_CHECK="0.3")
    assert "━" in err
    assert "a.txt" in err
    assert "━" not in out
    assert "No findings in 1 file." in out
