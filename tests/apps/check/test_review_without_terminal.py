"""`review` without a terminal, on any system: how it is called, and what the keys of a person do."""

import io
import subprocess
import sys
import time
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from nmspeller.__main__ import run
from nmspeller.apps.check_review.screen import Screen
from nmspeller.apps.check_review.session import Session
from nmspeller.apps.cli import reviewing

SCRIPT = Path(__file__).with_name("scripted_speller.py")
TEXT = "上个周末，我门一家人去公圆玩。\r\n今天的天汽真好。\r\n".encode()


class Typing(nullcontext):
    """A keyboard on which these keys are pressed when something is asked."""

    def __init__(self, keys):
        super().__init__()
        self._keys = iter(keys)

    def key(self, seconds=None):
        if seconds is None:
            return next(self._keys)
        time.sleep(seconds)
        return None


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "信.txt"
    path.write_bytes(TEXT)
    return path


@pytest.fixture
def review(speller, file, tmp_path, monkeypatch):
    """Press keys in a review of the file; gives the exit code and what was shown."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(reviewing.signal, "signal", lambda *_: None)  # it would outlive the test

    def press(keys):
        shown = io.StringIO()
        session = partial(Session, keyboard=Typing(keys), screen=Screen(Console(file=shown)))
        monkeypatch.setattr(reviewing, "Session", session)
        return run(["review", "--backup", str(file)]), shown.getvalue()

    return press


def test_what_is_accepted_is_written_and_nothing_else(review, file):
    code, shown = review("asa\r")
    assert code == 1
    assert "门 → 们  same sound  0.99" in shown
    assert "Save 2 corrections?" in shown
    assert file.read_bytes() == TEXT.replace("我门".encode(), "我们".encode()).replace(
        "天汽".encode(), "天气".encode()
    )
    assert file.with_name("信.txt.bak").read_bytes() == TEXT


def test_a_review_that_was_quit_goes_on_where_it_was(review, file):
    code, _ = review("aqn")
    assert code == 1
    assert file.read_bytes() == TEXT
    _, shown = review("ss\r")
    assert "1 finding was decided before" in shown
    assert file.read_bytes() == TEXT.replace("我门".encode(), "我们".encode())


def test_without_a_terminal_it_says_so_in_one_sentence(file):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "review", str(file)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert done.returncode == 2
    assert done.stderr == "nmspeller: `review` asks in a terminal, and there is none; use `check`.\n"
    assert file.read_bytes() == TEXT


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-"], "review cannot be used with -."),
        (["a.docx", "--author", "王"], "--author needs --track."),
        ([], "Give files or folders."),
    ],
)
def test_wrong_usage_is_one_sentence(capsys, arguments, sentence):
    assert run(["review", *arguments]) == 2
    assert capsys.readouterr().err == f"nmspeller: {sentence}\n"


def test_a_file_in_the_place_of_rules_is_a_wrong_rule(capsys):
    assert run(["review", "--rules", "a.md"]) == 2
    assert capsys.readouterr().err.startswith("nmspeller: there is no rule 'a.md'; choose among spelling,")
