"""Quantisation of a speller in memory is that of `lab prepare-qat`."""

from pathlib import Path

import numpy as np
import torch

from nmspeller.lab.export.conversion import prepare_qat
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.batch import collate
from nmspeller.lab.training.start import start_model
from nmspeller.text.vocabulary import Vocabulary
from torch_fitting import fake_quantised


def test_quantisation_in_memory_is_that_of_the_command(
    source_folder: Path, tmp_path: Path, texts: list[str]
) -> None:
    vocabulary = Vocabulary.from_file(source_folder / "vocab.txt")
    model = start_model({"speller": "bert", "tags": True}, source_folder)
    torch.nn.init.normal_(model.tags.output.weight, std=3.0)
    checkpoint.save(tmp_path / "tagged", model, vocabulary.tokens)
    model.eval()
    rows = [np.concatenate(([2], vocabulary.encode(text), [3])) for text in texts]
    quick = fake_quantised(model, rows)
    slow, _ = checkpoint.load(prepare_qat(tmp_path / "tagged", tmp_path / "quantised", texts))
    batch = collate(rows)
    assert quick.config == slow.config
    real = batch.real
    assert (quick(batch) - slow(batch))[real].abs().mean() < 0.1
    assert torch.allclose(quick.predict_tags(batch)[real], model.predict_tags(batch)[real], atol=0.1)
