"""A model with tags is exported, quantised, imported and reopened with them."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from tests.exact_products import needs_exact_products

from nmspeller import InputError, Speller
from nmspeller.__main__ import run
from nmspeller.lab.data.neighbours import count_neighbours
from nmspeller.lab.export.conversion import import_onnx, prepare_qat
from nmspeller.lab.export.export import export_model
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.batch import Batch, collate
from nmspeller.lab.training.start import start_model
from nmspeller.runtime.engine import OnnxEngine
from nmspeller.runtime.policy import TAGGED, Level, Policy
from nmspeller.text.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def tagged(source_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = start_model({"speller": "bert", "tags": True}, source_folder)
    torch.nn.init.normal_(model.tags.output.weight, std=3.0)
    folder = tmp_path_factory.mktemp("tagged")
    checkpoint.save(folder, model, Vocabulary.from_file(source_folder / "vocab.txt").tokens)
    return folder


def both(folder: Path, exported: Path) -> tuple[np.ndarray, np.ndarray]:
    """The tags of a checkpoint and of its export for two rows, of which one is padded."""
    model, tokens = checkpoint.load(folder)
    ids = torch.randint(5, len(tokens), (2, 12), generator=torch.Generator().manual_seed(1))
    ids[:, 0], ids[0, 11], ids[1, 8], ids[1, 9:] = 2, 3, 3, 0
    lengths = np.array([12, 9], np.int32)
    session = onnxruntime.InferenceSession(str(exported / "model.onnx"), providers=["CPUExecutionProvider"])
    (found,) = session.run(["tags"], {"ids": ids.numpy().astype(np.int32), "lengths": lengths})
    assert found.shape == (2, 11, 3)
    mask = torch.arange(12)[None] < torch.from_numpy(lengths)[:, None]
    wanted = model.predict_tags(Batch(ids, mask))[:, 1:].numpy()
    inside = mask[:, 1:].numpy()
    return wanted[inside], found[inside]


def test_the_export_says_what_the_checkpoint_says(tagged: Path, tmp_path: Path) -> None:
    wanted, found = both(tagged, export_model(tagged, tmp_path))
    assert np.allclose(wanted, found, atol=2e-3)  # the matrices of tags are stored in half precision
    assert found.std() > 0.01


@needs_exact_products
def test_an_int8_export_says_what_its_checkpoint_says(tagged: Path, tmp_path: Path, texts: list[str]) -> None:
    quantised = prepare_qat(tagged, tmp_path / "quantised", texts)
    exported = export_model(quantised, tmp_path / "out")
    wanted, found = both(quantised, exported)
    assert np.abs(wanted - found).max() < 3e-3


def test_an_imported_model_says_what_its_checkpoint_said(
    tagged: Path, tmp_path: Path, texts: list[str]
) -> None:
    quantised = prepare_qat(tagged, tmp_path / "quantised", texts)
    exported = export_model(quantised, tmp_path / "out")
    again, _ = checkpoint.load(import_onnx(exported, tmp_path / "again"))
    batch = collate([[2, 6, 7, 8, 9, 3]])
    original = checkpoint.load(quantised)[0]
    assert torch.allclose(again.predict_tags(batch), original.predict_tags(batch), atol=3e-3)


def test_a_speller_reads_a_model_with_tags(tagged: Path, tmp_path: Path, texts: list[str]) -> None:
    assert Speller(export_model(tagged, tmp_path)).correct(texts[0])


def test_the_command_writes_thresholds_for_a_model_with_tags(
    tagged: Path, pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = export_model(tagged, tmp_path / "model")
    edits = {"edits_revisions": [["我我们去外国", "我们去外国", "extra"], ["我去外", "我去外国", "missing"]]}
    prepared = with_neighbours(tmp_path / "prepared", tagged)
    (prepared / "edits_dev.json").write_text(json.dumps(edits), "utf-8")
    arguments = ["lab", "calibrate", str(folder), "--dev", str(pairs), "-o", "json"]
    assert run([*arguments, "--edits", str(prepared)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["tags"]["pairs"] == 2
    policy = Policy.read(folder / "policy.json")
    assert policy.calibration == printed
    # Without such pairs the thresholds of tags stay as they are.
    assert run(arguments) == 0
    again = Policy.read(folder / "policy.json")
    for level in Level:
        for kind in TAGGED:
            assert getattr(again.levels[level], kind) == getattr(policy.levels[level], kind)


def with_neighbours(folder: Path, model: Path) -> Path:
    """A folder as `lab data prepare` writes it, for the vocabulary of a model."""
    folder.mkdir()
    shutil.copy(model / "vocab.txt", folder)
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    words = ("我们", "外国", "可以", "认识", "的", "去")
    text = vocabulary.encode("我们去外国可以认识很多的人。" * 3).astype(np.uint16)
    count_neighbours(text, vocabulary, [(word, 9) for word in words]).save(folder / "neighbours.npz")
    return folder


def test_a_model_without_tags_has_no_thresholds_to_choose(
    model_folder: Path, pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edits = with_neighbours(tmp_path / "prepared", model_folder)
    content = '{"edits_revisions": [["我我们", "我们", "extra"]]}'
    (edits / "edits_dev.json").write_text(content, "utf-8")
    before = (model_folder / "policy.json").read_bytes()
    arguments = ["lab", "calibrate", str(model_folder), "--dev", str(pairs), "--edits", str(edits)]
    for more, words in (([], "does not tag"), (["--prefilter"], "a prefilter has no tags")):
        assert run([*arguments, *more]) == 2
        assert words in capsys.readouterr().err
    assert (model_folder / "policy.json").read_bytes() == before


def test_a_model_with_other_tags_is_refused(tagged: Path, tmp_path: Path, texts: list[str]) -> None:
    exported = export_model(prepare_qat(tagged, tmp_path / "quantised", texts), tmp_path / "out")
    proto = onnx.load(exported / "model.onnx")
    tags = next(output for output in proto.graph.output if output.name == "tags")
    node = next(node for node in proto.graph.node if "tags" in node.output)
    node.output[:] = ["three"]
    ends = [onnx.numpy_helper.from_array(np.array([value]), name) for name, value in (("a", 0), ("b", 2))]
    axis = onnx.numpy_helper.from_array(np.array([2]), "axis")
    proto.graph.initializer.extend([*ends, axis])
    proto.graph.node.append(onnx.helper.make_node("Slice", ["three", "a", "b", "axis"], ["tags"]))
    tags.type.tensor_type.shape.dim[2].dim_value = 2
    onnx.save(proto, exported / "model.onnx")
    with pytest.raises(InputError, match="was not written by `nmspeller lab export`"):
        OnnxEngine(exported / "model.onnx", Vocabulary.from_file(exported / "vocab.txt"))
