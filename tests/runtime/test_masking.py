"""The masking layer's attention, as the export stores it, against the layer itself in PyTorch."""

from pathlib import Path

import numpy as np
import pytest
import torch

from nmspeller.models import checkpoint
from nmspeller.models.batch import collate
from nmspeller.models.masking import visible_positions
from nmspeller.models.registry import build, parse
from nmspeller.runtime.engine import Engine
from nmspeller.runtime.export import export_model
from nmspeller.runtime.masking import FILE, MaskingLayer
from nmspeller.text.vocabulary import Vocabulary

TEXT = "我们去外国可以"
WINDOWS = [(max(0, at - 1), min(len(TEXT), at + 2)) for at in range(len(TEXT))]


@pytest.fixture(params=["trigram", None])
def exported(request: pytest.FixtureRequest, source_folder: Path, tmp_path: Path):
    """A speller trained with or without the layer, and its export."""
    vocabulary = Vocabulary.from_file(source_folder / "vocab.txt")
    sizes = {"hidden": 32, "layers": 2, "heads": 4, "intermediate": 64, "positions": 80}
    encoder = {**sizes, "vocabulary": len(vocabulary), "mask_id": vocabulary.mask}
    masking = {"masking": {"ngram": request.param, "active": "training"}} if request.param else {}
    torch.manual_seed(0)
    model = build(parse({"speller": "bert", "encoder": encoder, **masking})).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    checkpoint.save(tmp_path / "checkpoint", model, vocabulary.tokens)
    return model, export_model(tmp_path / "checkpoint", tmp_path / "onnx"), vocabulary


@torch.no_grad()
def test_attention_is_the_layer_s(exported) -> None:
    model, folder, vocabulary = exported
    ids = vocabulary.encode(TEXT)
    stored = MaskingLayer.read(folder / FILE)
    assert stored.trained == (model.semantic.masking is not None)
    engine = Engine(folder / "model.onnx", vocabulary, threads=1)
    found = stored.attention(engine.embedded(ids), WINDOWS)

    layer = model.semantic.masking.layer if stored.trained else model.semantic.layers[0]
    batch = collate([[vocabulary.cls, *ids, vocabulary.sep]], pad_multiple=1)
    embeddings = model.semantic.embeddings
    query, key = (
        layer.qkv(value)[0, :, part * 32 : (part + 1) * 32].unflatten(-1, (4, 8)).transpose(0, 1)
        for part, value in enumerate((embeddings.of_mask(batch), embeddings(batch)))
    )
    visible = visible_positions((-1, 0, 1), batch.real)
    scores = (query @ key.mT / 8**0.5).masked_fill(~visible, -1e4)
    expected = scores.softmax(dim=-1).mean(dim=0)[1:-1, 1:-1]
    np.testing.assert_allclose(found, expected.numpy(), atol=0.01)
    for at, (start, stop) in enumerate(WINDOWS):
        assert (found[at, start:stop] == 0).all()
    # [CLS] and [SEP] take their share too.
    assert (found.sum(axis=1) < 1).all()
