"""The command line around a speller that needs no model."""

import io
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from nmspeller.__main__ import run
from nmspeller.apps.cli import job
from nmspeller.apps.project import config

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def speller(monkeypatch):
    """The speller that `check` gets, the lists it was asked to load with, and whether with the prefilter."""
    from scripted_speller import ScriptedSpeller

    made = ScriptedSpeller()

    def load(model, lists, prefilter, rules):
        made.use_words(lists.words)
        made.lists, made.prefilter, made.rules = lists, prefilter, rules
        return made

    monkeypatch.setattr(job, "load_speller", load)
    return made


@pytest.fixture
def nmspeller(capfdbinary, monkeypatch, tmp_path):
    """Run `nmspeller` in an empty folder; gives exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    config._config_of_folder.cache_clear()

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin), isatty=lambda: False))
        # Standard output as a program has it, with bytes below: pytest's own is no such thing.
        with open(1, "w", encoding="ascii", closefd=False) as out:
            monkeypatch.setattr(sys, "stdout", out)
            code = run(list(map(str, arguments)))
        captured = capfdbinary.readouterr()
        return SimpleNamespace(
            code=code, raw=captured.out, out=captured.out.decode(errors="replace"), err=captured.err.decode()
        )

    yield call
    config._config_of_folder.cache_clear()


@pytest.fixture
def check(speller, nmspeller):
    """Run `nmspeller check` with the speller that needs no model."""
    return partial(nmspeller, "check")
