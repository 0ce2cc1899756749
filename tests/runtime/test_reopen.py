"""An exported model becomes a checkpoint again, from which training goes on."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from onnx import helper

from nmspeller import InputError
from nmspeller.apps.cli import run
from nmspeller.models import checkpoint
from nmspeller.models.batch import Batch
from nmspeller.runtime.reopen import reopen_model, round_model
from nmspeller.runtime.weights import read_source
from nmspeller.training.start import start_model


def test_a_reopened_model_says_what_its_source_said(
    source_folder: Path, model_folder: Path, tmp_path: Path
) -> None:
    reopened, tokens = checkpoint.load(reopen_model(model_folder, tmp_path))
    source = read_source(source_folder)
    assert tokens == source.vocabulary.tokens
    original = start_model({"speller": "bert"}, source_folder).eval()
    ids = torch.randint(5, len(tokens), (2, 12))
    assert torch.allclose(reopened(Batch(ids)), original(Batch(ids)), atol=1e-5)


def test_training_starts_from_it(model_folder: Path, tmp_path: Path) -> None:
    assert run(["reopen", str(model_folder), "--out", str(tmp_path / "again")]) == 0
    model = start_model({"speller": "bert", "masking": {"ngram": "trigram"}}, tmp_path / "again")
    again, _ = checkpoint.load(tmp_path / "again")
    assert torch.equal(model.semantic.layers[1].up.weight, again.semantic.layers[1].up.weight)


def test_a_rounded_checkpoint_is_exported_without_texts_and_says_the_same(
    source_folder: Path, tmp_path: Path, texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    sentences = tmp_path / "texts.txt"
    sentences.write_text("\n".join(texts), "utf-8")
    rounded, out = tmp_path / "rounded", tmp_path / "out"
    assert run(["round", str(source_folder), "--texts", str(sentences), "--out", str(rounded)]) == 0
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{text}\t{text}\n" for text in texts), "utf-8")
    capsys.readouterr()
    assert run(["export", str(rounded), str(out), "--parity", str(pairs), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["parity"]["same_edits"] == report["parity"]["sentences"] == len(texts)
    again, _ = checkpoint.load(reopen_model(out, tmp_path / "again"))
    ids = torch.randint(5, 30, (2, 12))
    assert torch.allclose(again(Batch(ids)), checkpoint.load(rounded)[0](Batch(ids)), atol=1e-4)


def assert_refused(command: list[str], said: str, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one sentence, with nothing written."""
    assert run(command) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["round", "{rounded}", "--texts", "{texts}", "--out", "{out}"], "rounded already"),
        (["export", "{rounded}", "{out}", "--texts", "{texts}"], "rounded already"),
        (["export", "{rounded}", "{out}", "--float"], "leave out --float"),
        (["round", "{source}", "--texts", "absent.txt", "--out", "{out}"], "absent.txt"),
    ],
)
def test_what_cannot_be_rounded(
    source_folder: Path,
    tmp_path: Path,
    texts: list[str],
    command: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(texts), "utf-8")
    names = {"source": source_folder, "rounded": tmp_path / "rounded"}
    round_model(source_folder, names["rounded"], texts)
    names |= {"out": tmp_path / "out", "texts": tmp_path / "texts.txt"}
    assert_refused([part.format(**names) for part in command], said, names["out"], capsys)


def test_a_narrow_checkpoint_has_the_width_it_was_given(
    source_folder: Path, tmp_path: Path, texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    sentences, out = tmp_path / "texts.txt", tmp_path / "narrow"
    sentences.write_text("\n".join(texts), "utf-8")
    command = ["narrow", str(source_folder), "--texts", str(sentences), "--out", str(out)]
    assert run([*command, "--width", "24"]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    narrow, tokens = checkpoint.load(out)
    assert tokens == read_source(source_folder).vocabulary.tokens
    assert narrow.config.encoder.intermediate == 24
    assert narrow.semantic.layers[1].down.weight.shape == (32, 24)
    assert "24 inner units" in (out / "card.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["{source}", "--width", "64", "--texts", "{texts}"], "from 1 to 63"),
        (["{source}", "--width", "0", "--texts", "{texts}"], "from 1 to 63"),
        (["{source}", "--width", "32", "--texts", "{empty}"], "no text"),
        (["{source}", "--width", "32", "--texts", "absent.txt"], "absent.txt"),
        (["{other}", "--width", "32", "--texts", "{texts}"], "only 'bert'"),
    ],
)
def test_what_cannot_be_narrowed(
    source_folder: Path,
    model_folder: Path,
    tmp_path: Path,
    texts: list[str],
    command: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = {name: tmp_path / name for name in ("texts", "empty", "other")} | {"source": source_folder}
    names["texts"].write_text("\n".join(texts), "utf-8")
    names["empty"].write_text("\n", "utf-8")
    config = reopen_model(model_folder, names["other"]) / "config.yaml"
    config.write_text(config.read_text("utf-8").replace('"bert"', '"spellgcn"'), "utf-8")
    out = tmp_path / "out"
    arguments = [part.format(**names) for part in command]
    assert_refused(["narrow", *arguments, "--out", str(out)], said, out, capsys)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nmspeller export"):
        reopen_model(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [b"", "another model"])
def test_somebody_else_s_model_is_refused(model_folder: Path, tmp_path: Path, content: bytes | str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    if content == "another model":
        value = helper.make_tensor_value_info("a", 1, [1])
        graph = helper.make_graph([helper.make_node("Neg", ["a"], ["b"])], "g", [value], [value])
        content = helper.make_model(graph).SerializeToString()
    (folder / "model.onnx").write_bytes(content)
    with pytest.raises(InputError, match="nmspeller export"):
        reopen_model(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()
