"""The exported graph against PyTorch, int8 against single precision, and what cannot be exported."""

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from nmspeller import InputError
from nmspeller.lab.export.export import export_model
from nmspeller.runtime.engine import OnnxEngine
from nmspeller.text.vocabulary import Vocabulary

SENTENCES = [
    "我门去外国可以认识很多的人。",
    "他在国外得人很少，可以借少？",
    "对不气",
    "我们abc再123去！龘",
    "的地得" * 9,
]


def scores(folder: Path, sentences: list[str]) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(candidates, probabilities, source probability) of each sentence, in the engine's own batches."""
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    engine = OnnxEngine(folder / "model.onnx", vocabulary, threads=1)
    stops = np.cumsum([len(sentence) for sentence in sentences])
    starts = stops - [len(sentence) for sentence in sentences]
    found = {}
    for batch in engine.scores(vocabulary.encode("".join(sentences)), starts, stops):
        for window in np.unique(batch.windows).tolist():
            inside = batch.windows == window
            assert batch.positions[inside].tolist() == list(range(starts[window], stops[window]))
            found[window] = (
                batch.best[inside],
                batch.probabilities[inside],
                batch.source_probabilities[inside],
            )
    return [found[window] for window in range(len(sentences))]


def test_the_graph_computes_what_pytorch_computes(source_folder: Path, model_folder: Path) -> None:
    import torch
    from transformers import BertForMaskedLM

    model = BertForMaskedLM.from_pretrained(source_folder).eval()
    vocabulary = Vocabulary.from_file(source_folder / "vocab.txt")
    for sentence, (best, probabilities, source_probability) in zip(
        SENTENCES, scores(model_folder, SENTENCES), strict=True
    ):
        ids = [vocabulary.cls, *vocabulary.encode(sentence).tolist(), vocabulary.sep]
        with torch.no_grad():
            expected = model(torch.tensor([ids])).logits.softmax(-1)[0, 1:-1]
        top = expected.topk(5)
        np.testing.assert_allclose(probabilities, top.values.numpy(), atol=1e-5)
        assert (best[:, 0] == top.indices[:, 0].numpy()).all()
        own = expected[torch.arange(len(sentence)), torch.tensor(ids[1:-1])]
        np.testing.assert_allclose(source_probability, own.numpy(), atol=1e-5)


def test_a_checkpoint_is_exported_like_the_same_hugging_face_folder(
    source_folder: Path, model_folder: Path, tmp_path: Path
) -> None:
    import json

    from nmspeller.lab.models import checkpoint, hugging_face, registry
    from nmspeller.lab.models.names import config_from_hugging_face

    vocabulary = Vocabulary.from_file(source_folder / "vocab.txt")
    description = json.loads((source_folder / "config.json").read_text("utf-8"))
    encoder = config_from_hugging_face(description, vocabulary.mask)
    masking = {"ngram": "trigram", "active": "training"}
    model = registry.build(registry.parse({"speller": "bert", "masking": masking}, encoder))
    hugging_face.load_backbone(model, source_folder)
    checkpoint.save(tmp_path / "checkpoint", model, vocabulary.tokens, "# Mine\n")
    out = export_model(tmp_path / "checkpoint", tmp_path / "out")
    assert (out / "card.md").read_text("utf-8") == "# Mine\n"
    for ours, theirs in zip(scores(out, SENTENCES), scores(model_folder, SENTENCES), strict=True):
        np.testing.assert_allclose(ours[1], theirs[1], atol=1e-6)


@pytest.fixture(scope="module")
def integer_folder(source_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_model(source_folder, tmp_path_factory.mktemp("integer"), texts=SENTENCES * 3)


def test_int8_is_close_to_single_precision(integer_folder: Path, model_folder: Path) -> None:
    for integers, floats in zip(
        scores(integer_folder, SENTENCES), scores(model_folder, SENTENCES), strict=True
    ):
        np.testing.assert_allclose(integers[2], floats[2], atol=0.15)
        assert np.abs(integers[2] - floats[2]).mean() < 0.02
        assert (integers[0][:, 0] == floats[0][:, 0]).mean() > 0.9


def test_a_sentence_scores_the_same_alone_and_in_a_batch(integer_folder: Path) -> None:
    together = scores(integer_folder, SENTENCES)
    for sentence, batched in zip(SENTENCES, together, strict=True):
        (alone,) = scores(integer_folder, [sentence])
        np.testing.assert_allclose(alone[1], batched[1], atol=1e-4)


def test_the_embedding_is_stored_once(integer_folder: Path) -> None:
    model = onnx.load(integer_folder / "model.onnx")
    vocabulary = len(Vocabulary.from_file(integer_folder / "vocab.txt"))
    tables = [t for t in model.graph.initializer if vocabulary in t.dims and np.prod(t.dims) > vocabulary]
    assert [numpy_helper.to_array(table).dtype for table in tables] == [np.int8]


def test_an_int8_model_is_smaller(integer_folder: Path, model_folder: Path) -> None:
    small, large = ((folder / "model.onnx").stat().st_size for folder in (integer_folder, model_folder))
    assert small < large


@pytest.mark.parametrize("texts", [None, SENTENCES])
def test_the_same_checkpoint_gives_the_same_bytes(
    source_folder: Path, tmp_path: Path, texts: list[str] | None
) -> None:
    one, two = (export_model(source_folder, tmp_path / name, texts=texts) for name in ("one", "two"))
    for name in ("model.onnx", "vocab.txt", "policy.json", "card.md"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_empty_calibration_texts_are_an_error(source_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no text"):
        export_model(source_folder, tmp_path / "out", texts=["", ""])
    assert not (tmp_path / "out").exists()


def test_a_folder_without_a_checkpoint_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither"):
        export_model(tmp_path, tmp_path / "out")


def test_a_truncated_checkpoint_is_an_error(source_folder: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(source_folder, tmp_path / "broken")
    content = (broken / "model.safetensors").read_bytes()
    (broken / "model.safetensors").write_bytes(content[:-100])
    with pytest.raises(InputError, match="damaged"):
        export_model(broken, tmp_path / "out")


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ({"speller": "spellgcn"}, "only 'bert'"),
        ({"speller": "bert", "masking": {"active": "always"}}, "masks n-grams"),
    ],
)
def test_spellers_that_cannot_be_exported(tmp_path: Path, model: dict[str, object], sentence: str) -> None:
    import json

    from nmspeller.lab.models.checkpoint import FORMAT

    (tmp_path / "config.yaml").write_text(json.dumps({"format": FORMAT, "model": model}), "utf-8")
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n", "utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(InputError, match=sentence):
        export_model(tmp_path, tmp_path / "out")
