"""Mistakes are reported in one sentence, before any training, and leave no files."""

import re
import shutil
from pathlib import Path

import pytest

from nmspeller.__main__ import run

CONFIGS = Path(__file__).parents[3] / "src/nmspeller/lab/configs"
BERT = "model: {speller: bert}\n"
LOOP = "{precision: fp32, log_every: 1, save_seconds: 0}"


def stage(**given: str) -> str:
    """A recipe of one stage, with some of its values replaced or, by "", left out."""
    values = {"copies": "{sighan13_train: 2}", "batch_sentences": "4", "loop": LOOP} | given
    return "stages:\n  - {" + ", ".join(f"{name}: {value}" for name, value in values.items() if value) + "}\n"


@pytest.fixture
def train(little_prepared, little_start, tmp_path, capsys):
    def command(config=BERT, recipe="", out=None):
        (tmp_path / "config.yaml").write_text(config, encoding="utf-8")
        (tmp_path / "recipe.yaml").write_text(recipe or stage(), encoding="utf-8")
        where = ["--data", str(little_prepared.folder), "--start", str(little_start)]
        where += ["--recipe", str(tmp_path / "recipe.yaml"), "--out", str(out or tmp_path / "out")]
        code = run(["lab", "train", str(tmp_path / "config.yaml"), *where])
        return code, capsys.readouterr().err

    return command


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (BERT + "recipie: paper\n", "'recipie', which is unknown"),
        ("model: {speller: bert, encoder: 5}\n", "encoder must be a mapping"),
        ("model: {speller: bert, encoder: {hidden: 64}}\n", "of shape"),
        ("model: {speller: bert, encoder: {vocabulary: 20}}\n", "the model has 20 tokens"),
    ],
)
def test_a_wrong_config_is_reported(train, tmp_path, config, words):
    code, error = train(config)
    assert (code, error.count("\n")) == (2, 1)
    assert words in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("{}\n", "recipe has no stages"),
        (stage(copies=""), "nothing to learn from"),
        (stage(copies="{sighan13_train: 0}"), "nothing to learn from"),
        (stage(copies="{sighan13_train: -1}"), "copies of sighan13_train are -1"),
        (stage(epochs="0"), "epochs is 0"),
        (stage(batch_sentences="-3"), "batch_sentences is -3"),
        (stage(dropout="3"), "dropout is 3"),
        (stage(synthetic="5", noise="{density: [0.1]}"), "density"),
        (stage(synthetic="5", noise="{density: [0.5, 0.1]}"), "the smaller first"),
        (stage(synthetic="5", noise="{profiles: {learner: 0}}"), "profiles are"),
        (stage(loop="{precision: fp32, log_every: 0}"), "log_every is 0"),
        (stage(loop="{precision: fp32, optimiser: {rate: .nan}}"), "rate is nan"),
        (stage(loop="{precision: fp32, packed: true, packed_tokens: 10}"), "packed_tokens is 10"),
    ],
)
def test_a_wrong_recipe_is_reported(train, tmp_path, recipe, words):
    code, error = train(recipe=recipe)
    assert (code, error.count("\n")) == (2, 1)
    assert words in error
    assert not (tmp_path / "out").exists()


def test_a_recipe_in_the_config_is_a_name_or_its_values(little_prepared, tmp_path, capsys):
    path = tmp_path / "config.yaml"
    path.write_text(BERT + "recipe: 5\n")
    assert run(["lab", "train", str(path), "--data", str(little_prepared.folder)]) == 2
    assert "the recipe is 5" in capsys.readouterr().err


def test_an_unwritable_folder_is_reported(train, tmp_path):
    file = tmp_path / "a file"
    file.write_text("of somebody")
    for out in (file, file / "below"):
        code, error = train(out=out)
        assert (code, error.count("\n")) == (2, 1)
        assert str(out) in error
    assert file.read_text() == "of somebody"


@pytest.mark.parametrize(
    ("config", "options", "words"),
    [
        ("modalities: {sound_stepps: 3}\n", [], "modalities.sound_stepps is unknown"),
        ("modalities: {sound_steps: 0}\n", [], "sound_steps is 0"),
        ("modalities: {sound_steps: 3}\n", ["--seconds", "5"], "leave out --seconds"),
        ("recipe: {steps: 0}\n", [], "steps is 0"),
        ("recipe: {length: 500}\n", [], "rows have up to 500"),
        ("recipy: {steps: 3}\n", [], "'recipy', which is unknown"),
    ],
)
def test_a_wrong_pretraining_config_is_reported(
    little_prepared, little_start, tmp_path, capsys, config, options, words
):
    path = tmp_path / "config.yaml"
    path.write_text(config)
    where = ["--data", str(little_prepared.folder), "--start", str(little_start), "--out"]
    assert run(["lab", "pretrain", str(path), *where, str(tmp_path / "out"), *options]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("few_words")
def test_pretraining_without_held_out_text_is_reported_before_it_begins(
    little_data, little_prepared, tmp_path, capsys
):
    from nmspeller.lab.data.encode import prepare

    data, out = tmp_path / "data", tmp_path / "out"
    shutil.copytree(little_data, data)
    (data / "corpus" / "part.txt").write_text("小猫在院子里追着蝴蝶跑来跑去。\n" * 100, encoding="utf-8")
    prepare(data, little_prepared.folder / "vocab.txt", tmp_path / "prepared")
    config = str(CONFIGS / "pretrain" / "prefilter.yaml")
    assert run(["lab", "pretrain", config, "--data", str(tmp_path / "prepared"), "--out", str(out)]) == 2
    assert "too little held-out text" in capsys.readouterr().err
    assert not out.exists()


def test_pretraining_without_a_corpus_says_that_there_was_none(little_prepared, tmp_path, capsys):
    folder = tmp_path / "prepared"
    shutil.copytree(little_prepared.folder, folder, ignore=shutil.ignore_patterns("corpus-*", "heldout-*"))
    config = str(CONFIGS / "pretrain" / "prefilter.yaml")
    assert run(["lab", "pretrain", config, "--data", str(folder), "--out", str(tmp_path / "out")]) == 2
    assert "prepare it from a data folder with a corpus" in capsys.readouterr().err


@pytest.mark.parametrize(("command", "folder"), [("train", "models"), ("pretrain", "pretrain")])
def test_the_help_names_a_config_that_exists(command, folder, capsys):
    run(["lab", command, "--help"])
    (name,) = re.findall(r"such as\s+([\w-]+)", capsys.readouterr().out)
    assert (CONFIGS / folder / f"{name}.yaml").exists()


def test_random_weights_of_pretraining_follow_from_the_seed(little_prepared, tmp_path):
    from safetensors.numpy import load_file

    path = tmp_path / "config.yaml"
    path.write_text(
        "encoder: {hidden: 16, layers: 1, heads: 2, intermediate: 16, positions: 130}\n"
        "recipe: {steps: 1, batch_rows: 2, length: 64, loop: {precision: fp32, optimiser: {rate: 0.0}}}\n"
    )

    def words(name, seed):
        where = ["--data", str(little_prepared.folder), "--out", str(tmp_path / name), "--seed", seed]
        assert run(["lab", "pretrain", str(path), *where]) == 0
        return load_file(tmp_path / name / "model.safetensors")["semantic.embeddings.words.weight"]

    first, again, other = words("a", "1"), words("b", "1"), words("c", "2")
    assert (first == again).all()
    assert (first != other).any()
