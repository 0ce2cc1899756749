"""From jobs to tables, with a tiny speller; and jobs that fail beside others."""

import json
from collections import Counter

import pytest

from nmspeller.errors import InputError
from nmspeller.lab.evaluation import experiments, results_file, suites
from nmspeller.lab.models import checkpoint
from nmspeller.lab.training.recipes import read_recipe
from nmspeller.lab.training.side_by_side import run_side_by_side
from nmspeller.lab.training.start import start_model

SIZES = {"hidden": 32, "layers": 2, "heads": 4, "intermediate": 64, "positions": 160}
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
        raise ValueError('job one is ill')
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


def test_a_job_leaves_files_from_which_results_are_added(recipe, little_prepared, little_start, tmp_path):
    out = tmp_path / "runs"
    masked = {"speller": "bert", "masking": {"ngram": "trigram"}}
    for model in ({"speller": "bert"}, masked):
        out.mkdir(exist_ok=True)
        experiments.run_job(
            experiments.Job(model, str(recipe), 0),
            data=little_prepared.folder,
            start=little_start,
            out=out,
            sets=["sighan13"],
        )
    names = {path.name for path in out.glob("*.json")}
    assert names == {
        "bert-none-recipe-0.json",
        "bert-trigram-recipe-0.json",
        "bert-trigram-recipe-0-always.json",
    }
    record = json.loads((out / "bert-trigram-recipe-0.json").read_text(encoding="utf-8"))
    assert record["active"] == "training"
    assert set(record["metrics"]) == {"sighan13"}
    assert record["seconds"] > 0
    assert record["description"] == masked
    assert record["config"]["start"] == little_start.name
    assert record["config"]["modalities"] is None
    results = tmp_path / "results"
    results_file.add_results(results / "results.json", results_file.read_runs(out))
    assert str(tmp_path) not in (results / "results.json").read_text(encoding="utf-8")
    assert {run.ngram for run in results_file.read_results(results / "results.json")} == {"none", "trigram"}
    results_file.add_cases(results / "cases.json", out)
    answers = results_file.read_cases(results / "cases.json")
    runs = [name for by_answer in answers.values() for names in by_answer.values() for name in names]
    assert len(runs) == 3 * len(experiments.CASES)


EPOCHS = """\
stages:
  - copies: {sighan13_train: 4}
    epochs: 3
    batch_sentences: 4
    loop: {on_device: true, packed_tokens: 128, precision: fp32, log_every: 1, save_seconds: 0.001}
"""


def test_what_is_trained_on_the_device_is_measured_after_every_epoch(
    recipe, little_prepared, little_start, tmp_path, monkeypatch
):
    recipe.write_text(EPOCHS, encoding="utf-8")
    out = tmp_path / "runs"
    job = experiments.Job(
        {"speller": "bert", "head": "linear", "masking": {"ngram": "trigram"}}, str(recipe), 1
    )
    places = {"data": little_prepared.folder, "start": little_start, "out": out, "sets": ["sighan13"]}
    measure, stopped = experiments.count_outcomes, iter([1, 1, 1, 1, 0])

    def measured_until_the_third_epoch(*given):
        if not next(stopped, 1):
            raise KeyboardInterrupt
        return measure(*given)

    monkeypatch.setattr(experiments, "count_outcomes", measured_until_the_third_epoch)
    with pytest.raises(KeyboardInterrupt):
        experiments.run_job(job, **places)
    experiments.run_job(job, **places)
    always, starred = sorted(results_file.read_runs(out), key=lambda run: run.active)
    for run in (starred, always):
        assert run.config["settings"] == {"head": "linear"}
        assert [set(epoch) for epoch in run.epochs] == [{"sighan_dev", "sighan13"}] * 3
        assert run.epochs[-1]["sighan13"] == dict(Counter(run.outcomes["sighan13"]))
        assert run.epochs[-1]["sighan_dev"] == dict(Counter(run.outcomes["sighan_dev"]))
    path = tmp_path / "results.json"
    results_file.write_results(path, [starred])
    assert results_file.read_results(path)[0].epochs == starred.epochs


def test_jobs_on_the_device_are_trained_together_and_written_one_by_one(
    recipe, little_prepared, little_start, tmp_path
):
    recipe.write_text(EPOCHS, encoding="utf-8")
    jobs = [
        experiments.Job({"speller": "bert", **masking}, str(recipe), seed)
        for masking in ({"masking": {"ngram": "trigram"}}, {})
        for seed in (0, 1)
    ]
    seen = {job.name: [] for job in jobs}
    places = {"data": little_prepared.folder, "start": little_start, "sets": ["sighan13"]}
    experiments.run_jobs_together(
        jobs, **places, out=tmp_path / "together", reports=lambda job: seen[job.name].append
    )
    together = {run.name.split("/")[1]: run for run in results_file.read_runs(tmp_path / "together")}
    assert len(together) == 6
    assert {len(run.epochs) for run in together.values()} == {3}
    assert len({tuple(each.loss for each in steps) for steps in seen.values()}) == 4
    experiments.run_job(jobs[3], **places, out=tmp_path / "alone")
    (alone,) = results_file.read_runs(tmp_path / "alone")
    assert alone.protocol == together[jobs[3].name].protocol
    # Nothing is trained again.
    experiments.run_jobs_together(jobs, **places, out=tmp_path / "together", reports=lambda job: 1 / 0)
    with pytest.raises(InputError, match="one recipe"):
        experiments.run_jobs_together(
            [experiments.Job({"speller": "bert"}, name, 0) for name in (str(recipe), "fast")],
            **places,
            out=tmp_path / "other",
        )


def test_a_start_that_was_pretrained_without_dropout_gets_that_of_the_recipe(
    recipe, little_prepared, tmp_path, monkeypatch
):
    vocabulary, trained = little_prepared.vocabulary, []
    still = start_model(
        {"speller": "bert", "encoder": {**SIZES, "vocabulary": len(vocabulary), "mask_id": vocabulary.mask}},
        None,
        dropout=0.0,
    )
    checkpoint.save(tmp_path / "pretrained", still, vocabulary.tokens)
    monkeypatch.setattr(experiments, "finetune", lambda model, *_, **__: trained.append(model))
    experiments.run_job(
        experiments.Job({"speller": "bert"}, str(recipe), 0),
        data=little_prepared.folder,
        start=tmp_path / "pretrained",
        out=tmp_path,
        sets=[],
    )
    layer = trained[0].semantic.layers[0]
    assert (layer.dropout.p, layer.attention.dropout_probability) == (0.1, 0.1)


def test_the_paper_s_setting_has_bert_and_the_n_grams_of_its_table():
    found = [job.name for job in experiments.jobs("paper_setting", [0, 1])]
    assert found == [
        f"bert-linear-{ngram}-paper_setting-{seed}"
        for seed in (0, 1)
        for ngram in ("none", "right-bigram", "trigram")
    ]
    assert read_recipe("paper_setting").stages[0].loop.on_device


def test_a_job_that_is_killed_while_it_writes_is_not_taken_for_done(
    recipe, little_prepared, little_start, tmp_path, monkeypatch
):
    job, sets = experiments.Job({"speller": "bert"}, str(recipe), 0), ["sighan13"]
    places = {"data": little_prepared.folder, "start": little_start, "out": tmp_path}

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", killed)
    with pytest.raises(KeyboardInterrupt):
        experiments.run_job(job, sets=sets, **places)
    assert not list(tmp_path.glob("*.json"))


def test_an_experiment_trains_the_rows_of_its_table():
    first = experiments.jobs("table1", [0])
    assert {job.name for job in first} >= {
        "bert-none-paper-0",
        "bert-right-bigram-paper-0",
        "bert-trigram-paper-0",
        "spellgcn-trigram-spellgcn-sighan13-0",
        "dcn-left-bigram-paper-0",
    }
    second = experiments.jobs("table2", [0], recipe="fast")
    assert {job.name for job in second} >= {
        "phmospell-0.6-0.4-none-fast-0",
        "phmospell-0.8-0.2-none-fast-0",
        "phmospell-0.8-0.2-left-bigram-fast-0",
    }
    for jobs in (first, second):
        assert len({job.name for job in jobs}) == len(jobs)
    with pytest.raises(InputError, match="table1"):
        experiments.jobs("table3", [0])


def test_n_grams_are_tried_with_bert_or_with_all_models():
    assert len(experiments.jobs("ngrams", [0, 1, 2])) == 15
    found = experiments.jobs("ngrams", [0], recipe="fast", all_models=True)
    # Six spellers, one of which has two settings, with no masking and four n-grams.
    assert len(found) == 7 * 5
    assert len({job.speller for job in found}) == 6


def test_masking_that_starts_in_another_way_has_names_of_its_own():
    copied = {job.name for job in experiments.jobs("ngrams", [0])}
    identity = experiments.jobs("identity", [0])
    assert {job.name for job in identity} & copied == {"bert-none-paper-0"}
    assert {job.ngram for job in identity} >= {"unigram-identity", "right-bigram-identity"}
    assert {job.model["masking"]["init"] for job in identity if job.ngram != "none"} == {"identity"}


def test_jobs_continue_when_others_fail(tmp_path):
    # A function must have a home that a new process can import; this file has none under importlib.
    (tmp_path / "homes.py").write_text(HOME)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        from homes import note

        failures = run_side_by_side(note, [(str(tmp_path), number) for number in range(4)], 2)
    assert set(failures) == {1, 2}
    assert "job one is ill" in failures[1]
    assert "code 9" in failures[2]
    assert (tmp_path / "0").exists()
    assert (tmp_path / "3").exists()
