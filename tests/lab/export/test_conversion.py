"""An exported model becomes a checkpoint again, which can be trained further."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from onnx import helper

from nmspeller import InputError
from nmspeller.__main__ import run
from nmspeller.lab.export.conversion import import_onnx, prepare_qat
from nmspeller.lab.export.export import export_prefilter
from nmspeller.lab.export.weights import read_weights
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.batch import Batch
from nmspeller.lab.training.start import start_model


def test_an_imported_model_predicts_what_its_source_predicts(
    source_folder: Path, model_folder: Path, tmp_path: Path
) -> None:
    imported, tokens = checkpoint.load(import_onnx(model_folder, tmp_path))
    source = read_weights(source_folder)
    assert tokens == source.vocabulary.tokens
    original = start_model({"speller": "bert"}, source_folder).eval()
    ids = torch.randint(5, len(tokens), (2, 12))
    assert torch.allclose(imported(Batch(ids)), original(Batch(ids)), atol=1e-5)


def test_training_starts_from_an_imported_model(model_folder: Path, tmp_path: Path) -> None:
    assert run(["lab", "import-onnx", str(model_folder), "--out", str(tmp_path / "again")]) == 0
    model = start_model({"speller": "bert", "masking": {"ngram": "trigram"}}, tmp_path / "again")
    again, _ = checkpoint.load(tmp_path / "again")
    assert torch.equal(
        model.semantic.layers[1].feed_forward.up.weight, again.semantic.layers[1].feed_forward.up.weight
    )


def test_a_qat_checkpoint_is_exported_without_texts_and_predicts_the_same(
    source_folder: Path, tmp_path: Path, texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    sentences = tmp_path / "texts.txt"
    sentences.write_text("\n".join(texts), "utf-8")
    quantised, out = tmp_path / "quantised", tmp_path / "out"
    assert (
        run(["lab", "prepare-qat", str(source_folder), "--texts", str(sentences), "--out", str(quantised)])
        == 0
    )
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{text}\t{text}\n" for text in texts), "utf-8")
    capsys.readouterr()
    assert run(["lab", "export", str(quantised), str(out), "--parity", str(pairs), "-o", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["parity"]["same_edits"] == report["parity"]["sentences"] == len(texts)
    again, _ = checkpoint.load(import_onnx(out, tmp_path / "again"))
    ids = torch.randint(5, 30, (2, 12))
    assert torch.allclose(again(Batch(ids)), checkpoint.load(quantised)[0](Batch(ids)), atol=1e-4)


def assert_error(command: list[str], sentence: str, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, and nothing is written."""
    assert run(command) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (
            ["lab", "prepare-qat", "{quantised}", "--texts", "{texts}", "--out", "{out}"],
            "fake-quantised already",
        ),
        (["lab", "export", "{quantised}", "{out}", "--texts", "{texts}"], "fake-quantised already"),
        (["lab", "export", "{quantised}", "{out}", "--float"], "leave out --float"),
        (["lab", "prepare-qat", "{source}", "--texts", "absent.txt", "--out", "{out}"], "absent.txt"),
    ],
)
def test_checkpoints_that_cannot_be_quantised(
    source_folder: Path,
    tmp_path: Path,
    texts: list[str],
    command: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(texts), "utf-8")
    names = {"source": source_folder, "quantised": tmp_path / "quantised"}
    prepare_qat(source_folder, names["quantised"], texts)
    names |= {"out": tmp_path / "out", "texts": tmp_path / "texts.txt"}
    assert_error([part.format(**names) for part in command], sentence, names["out"], capsys)


def test_a_folder_without_a_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nmspeller lab export"):
        import_onnx(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [b"", "another model"])
def test_the_model_of_another_program_is_an_error(
    model_folder: Path, tmp_path: Path, content: bytes | str
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    if content == "another model":
        value = helper.make_tensor_value_info("a", 1, [1])
        graph = helper.make_graph([helper.make_node("Neg", ["a"], ["b"])], "g", [value], [value])
        content = helper.make_model(graph).SerializeToString()
    (folder / "model.onnx").write_bytes(content)
    with pytest.raises(InputError, match="nmspeller lab export"):
        import_onnx(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("quantised", [False, True])
def test_a_prefilter_is_imported_in_floats(
    small_source: Path, model_folder: Path, tmp_path: Path, texts: list[str], quantised: bool
) -> None:
    model = shutil.copytree(model_folder, tmp_path / "model")
    export_prefilter(small_source, model, texts=texts if quantised else None)
    assert run(["lab", "import-onnx", str(model), "--prefilter", "--out", str(tmp_path / "again")]) == 0
    again, _ = checkpoint.load(tmp_path / "again")
    assert not again.config.encoder.fake_quantised
    original = start_model({"speller": "bert"}, small_source).eval()
    batch = Batch(torch.randint(5, 30, (2, 12)))
    both = (speller.source_scores(batch) for speller in (again, original))
    assert torch.allclose(*both, atol=0.3 if quantised else 1e-5)
