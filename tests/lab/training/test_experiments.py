"""From jobs to tables, on a tiny speller; and jobs that fail while others run."""

import json
import re

import pytest

from nmspeller.errors import InputError
from nmspeller.lab.evaluation import experiments, suites, tables
from nmspeller.lab.evaluation.case_study import write_cases
from nmspeller.lab.training.runner import run_side_by_side

RECIPE = """\
stages:
  - copies: {sighan13_train: 4}
    synthetic: 20
    batch_tokens: 300
    dropout: 0.1
    loop: {packed: true, precision: fp32, log_every: 1, save_seconds: 0}
  - {copies: {sighan14_train: 2}, batch_sentences: 4, loop: {precision: fp32, log_every: 1, save_seconds: 60}}
"""

HOME = """\
import os
from pathlib import Path

def note(job):
    folder, number = job
    if number == 1:
        raise ValueError('job one fails')
    if number == 2:
        os._exit(9)
    (Path(folder) / str(number)).write_text('done')
"""


@pytest.fixture
def recipe(little_data, tmp_path, monkeypatch):
    """The file of a small recipe, where the evaluation sets are little ones too."""
    monkeypatch.setenv("NMSPELLER_DATA", str(little_data))
    suites._read.cache_clear()
    path = tmp_path / "recipe.yaml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


def test_a_job_leaves_files_from_which_tables_are_written(recipe, little_prepared, little_start, tmp_path):
    out = tmp_path / "runs"
    for job in (experiments.Job("bert", None, 0), experiments.Job("bert", "trigram", 0)):
        out.mkdir(exist_ok=True)
        experiments.run_job(
            job,
            recipe=str(recipe),
            data=little_prepared.folder,
            start=little_start,
            out=out,
            sets=["sighan13"],
        )
    names = {path.name for path in out.glob("*.json")}
    assert names == {"bert-none-0.json", "bert-trigram-0.json", "bert-trigram-0-always.json"}
    record = json.loads((out / "bert-trigram-0.json").read_text(encoding="utf-8"))
    assert record["active"] == "training"
    assert set(record["metrics"]) == {"sighan13"}
    assert record["seconds"] > 0
    assert record["config"]["start"] == little_start.name
    page, plot = tables.write_results(out, tmp_path / "results")
    text = page.read_text(encoding="utf-8")
    assert "SIGHAN13" in text
    assert "trigram" in text
    assert str(tmp_path) not in text
    assert plot.stat().st_size > 1000
    cases = write_cases(out, tmp_path / "results").read_text(encoding="utf-8")
    counted = re.findall(r"\| (\d+)(?:: bert| of 3)", cases)
    assert sum(map(int, counted)) == 3 * len(experiments.CASES)


def test_a_job_that_is_killed_while_it_writes_is_not_done(
    recipe, little_prepared, little_start, tmp_path, monkeypatch
):
    job, sets = experiments.Job("bert", None, 0), ["sighan13"]
    places = {"data": little_prepared.folder, "start": little_start, "out": tmp_path}

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", killed)
    with pytest.raises(KeyboardInterrupt):
        experiments.run_job(job, recipe=str(recipe), sets=sets, **places)
    assert not list(tmp_path.glob("*.json"))


def test_the_experiments_are_those_of_the_paper():
    assert len(experiments.jobs("ngrams", [0, 1, 2])) == 15
    assert {job.speller for job in experiments.jobs("table2", [0])} == {"realise", "phmospell", "dgspeller"}
    with pytest.raises(InputError, match="table1"):
        experiments.jobs("table3", [0])


def test_jobs_continue_when_others_fail(tmp_path):
    # A function must have a home that a new process can import; this file has none under importlib.
    (tmp_path / "homes.py").write_text(HOME)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        from homes import note

        failures = run_side_by_side(note, [(str(tmp_path), number) for number in range(4)], 2)
    assert set(failures) == {1, 2}
    assert "job one fails" in failures[1]
    assert "code 9" in failures[2]
    assert (tmp_path / "0").exists()
    assert (tmp_path / "3").exists()
