"""The laboratory's commands, on a small data set."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nmspeller.__main__ import run
from nmspeller.lab.data.pairs import read_pairs
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.evaluation import suites
from nmspeller.lab.evaluation.results_file import read_cases, read_results
from nmspeller.lab.training import side_by_side

CONFIGS = Path(__file__).parents[3] / "src/nmspeller/lab/configs"
RECIPE = """\
stages:
  - copies: {sighan13_train: 8}
    synthetic: 20
    batch_tokens: 300
    loop: {packed: true, precision: fp32, log_every: 1, save_seconds: 0}
"""


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_text(RECIPE, encoding="utf-8")
    return str(path)


@pytest.fixture
def here(little_data, monkeypatch):
    monkeypatch.setenv("NMSPELLER_DATA", str(little_data))
    suites._read.cache_clear()
    yield little_data
    suites._read.cache_clear()


@pytest.mark.parametrize("config", sorted((CONFIGS / "models").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_model_takes_a_step(config, little_prepared, little_start, capsys):
    folder = str(little_prepared.folder)
    assert (
        run(["lab", "train", str(config), "--data", folder, "--start", str(little_start), "--dry-run"]) == 0
    )
    name, _, loss = capsys.readouterr().out.strip().partition(": one step, loss ")
    assert name == config.stem
    assert 0 < float(loss) < 100


@pytest.mark.parametrize("path", sorted((CONFIGS / "recipes").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_recipe_can_be_read(path):
    from nmspeller.lab.training.recipes import read_recipe

    assert read_recipe(path.stem).stages


def test_configs_and_recipes_of_the_package_are_found_by_name(
    little_prepared, little_start, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    where = ["--data", str(little_prepared.folder), "--start", str(little_start), "--dry-run"]
    assert run(["lab", "train", "nm-bert", "--recipe", "fast", *where]) == 0
    assert capsys.readouterr().out.startswith("nm-bert: one step")
    assert run(["lab", "train", "table1/sighan15-nm-bert", *where]) == 0
    assert capsys.readouterr().out.startswith("sighan15-nm-bert: one step")


def test_train_writes_a_checkpoint_a_record_and_a_curve(
    little_prepared, little_start, recipe, tmp_path, capsys
):
    out = tmp_path / "run"
    arguments = ["--data", str(little_prepared.folder), "--start", str(little_start), "--out", str(out)]
    assert run(["lab", "train", str(CONFIGS / "models" / "bert.yaml"), "--recipe", recipe, *arguments]) == 0
    assert {"model.safetensors", "train.json", "stage0.jsonl", "loss.png"} <= {f.name for f in out.iterdir()}
    record = json.loads((out / "train.json").read_text(encoding="utf-8"))
    assert record["modalities"] is None
    assert record["data_hashes"] == little_prepared.manifest["sources"]
    assert str(tmp_path) not in (out / "train.json").read_text(encoding="utf-8")


def test_pretrain_from_random_weights_and_from_a_checkpoint(little_prepared, little_start, tmp_path):
    config = tmp_path / "pretrain.yaml"
    config.write_text(
        "name: tiny\nencoder: {hidden: 32, layers: 1, heads: 2, intermediate: 32, positions: 130}\n"
        "recipe: {steps: 3, batch_rows: 4, length: 64, loop: {precision: fp32, log_every: 1}}\n"
    )
    data = ["--data", str(little_prepared.folder)]
    assert run(["lab", "pretrain", str(config), *data, "--out", str(tmp_path / "a")]) == 0
    more = ["--start", str(little_start), "--seconds", "60", "--out", str(tmp_path / "b")]
    assert run(["lab", "pretrain", str(config), *data, *more]) == 0
    before = [json.loads((tmp_path / name / "pretrain.json").read_text())["before"] for name in "ab"]
    assert before[0] is None
    assert set(before[1]) == {"masked", "restored", "disturbed"}


def test_an_experiment_ends_in_results_and_cases(
    here, little_prepared, little_start, recipe, tmp_path, capsys, monkeypatch
):
    # In this process: another for each training would take most of the time to import torch.
    monkeypatch.setattr(
        side_by_side, "run_side_by_side", lambda work, jobs, _: dict(filter(None, map(work, jobs)))
    )
    out = tmp_path / "runs"
    arguments = ["--data", str(little_prepared.folder), "--start", str(little_start), "--out", str(out)]
    arguments += ["--recipe", recipe, "--seeds", "0"]
    assert run(["lab", "experiment", "seeds", *arguments]) == 0, capsys.readouterr().err
    # BERT, and NM-BERT with two n-grams, each with the masking layer on and off.
    measured = read_results(out / "results" / "results.json")
    assert len(measured) == 5
    assert all({"sighan15", "ecspell_law"} <= {*each.outcomes, *each.counts} for each in measured)
    assert read_cases(out / "results" / "cases.json")
    assert (out / "loss.png").exists()


def test_an_experiment_on_the_device_ends_in_results_with_epochs(
    here, little_prepared, little_start, tmp_path, capsys
):
    recipe, out = tmp_path / "recipe.yaml", tmp_path / "runs"
    recipe.write_text(
        "stages: [{copies: {sighan13_train: 1}, epochs: 2, batch_sentences: 4,"
        " loop: {on_device: true, packed_tokens: 128, precision: fp32, log_every: 1}}]\n"
    )
    arguments = ["--data", str(little_prepared.folder), "--start", str(little_start), "--out", str(out)]
    arguments += ["--recipe", str(recipe), "--seeds", "0", "--side-by-side", "3"]
    assert run(["lab", "experiment", "paper_setting", *arguments]) == 0, capsys.readouterr().err
    measured = read_results(out / "results" / "results.json")
    assert [len(each.epochs) for each in measured] == [2] * 5
    assert (out / "loss.png").exists()


@pytest.mark.usefixtures("few_words")
def test_prepare_writes_what_training_needs(here, little_prepared, tmp_path):
    vocabulary = str(little_prepared.folder / "vocab.txt")
    assert run(["lab", "data", "prepare", str(tmp_path / "out"), "--vocab", vocabulary, "--no-corpus"]) == 0
    written = {"manifest.json", "noise.npz", "characters.npz", "vocab.txt", "pairs", "edits_dev.json"}
    assert written == {file.name for file in (tmp_path / "out").iterdir()}


def test_noise_is_the_same_for_a_seed(here, little_prepared, tmp_path):
    common = ["lab", "data", "noise", str(here / "corpus"), "--prepared", str(little_prepared.folder)]
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        out = str(tmp_path / f"{name}.tsv")
        assert run([*common, "--pairs", "100", "--seed", seed, "--out", out]) == 0
    a, b, c = ((tmp_path / f"{name}.tsv").read_bytes() for name in "abc")
    assert a == b != c
    assert len(read_pairs(tmp_path / "a.tsv")) == 100


def test_noise_is_added_to_a_prepared_folder(here, little_prepared, tmp_path):
    folder = shutil.copytree(little_prepared.folder, tmp_path / "prepared")
    common = ["lab", "data", "noise", str(here / "corpus"), "--prepared", str(folder), "--pairs", "30"]
    assert run([*common, "--add", "wang_synthetic"]) == 0
    assert run([*common, "--out", str(tmp_path / "same.tsv")]) == 0
    assert Prepared(folder).pair_texts("wang_synthetic") == read_pairs(tmp_path / "same.tsv")
    assert run([*common, "--add", "wang_synthetic", "--out", "x.tsv"]) == 2


def test_endless_noise_stops_when_its_pipe_closes(here, little_prepared):
    command = [
        sys.executable,
        "-m",
        "nmspeller",
        "lab",
        "data",
        "noise",
        str(here / "corpus"),
        "--pairs",
        "0",
    ]
    command += ["--prepared", str(little_prepared.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        lines = [process.stdout.readline().decode() for _ in range(5000)]  # more than one pass
        process.stdout.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == b""
    assert all(line.count("\t") == 1 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lab", "train", "absent.yaml", "--data", "."], "cannot read absent.yaml"),
        (["lab", "train", str(CONFIGS / "models/bert.yaml"), "--data", "absent"], "data prepare"),
        (["lab", "train", "bert", "--recipe", "slow", "--data", "."], "no config 'slow' in recipes"),
        (["lab", "train", "bart", "--data", "."], "one of bert, dcn"),
        (["lab", "pretrain", "nothing", "--data", "."], "one of continue"),
        (["lab", "pretrain", str(CONFIGS / "pretrain/continue.yaml"), "--data", "absent"], "--start"),
        (["lab", "experiment", "table9", "--out", "runs"], "choose table1"),
        (["lab", "experiment", "seeds", "--seeds", "x", "--out", "runs"], "--seeds"),
        (["lab", "data", "noise", "absent", "--pairs", "0", "--out", "x.tsv"], "fit no file"),
    ],
)
def test_mistakes_are_reported_in_one_sentence(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_without_torch_the_error_names_the_extra(monkeypatch, capsys):
    monkeypatch.setattr("nmspeller.lab.cli.extra.find_spec", lambda name: None)
    assert run(["lab", "train", "any.yaml", "--data", "."]) == 2
    assert "nmspeller[train]" in capsys.readouterr().err


@pytest.mark.parametrize("packed", [False, True])
def test_bench_train_gives_a_share_of_the_peak(packed):
    from nmspeller.lab.training.benchmark import measure_training

    sizes = {"hidden": 32, "layers": 1, "heads": 2, "intermediate": 64, "positions": 128, "vocabulary": 100}
    found = measure_training(seconds=0.3, encoder=sizes, packed=packed)
    assert found["packed"] is packed
    assert found["tokens_per_second"] > 0
    assert 0 < found["share_of_peak"] < 1.5


def test_help_does_not_load_torch():
    code = "import sys, nmspeller.__main__; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
