"""The steps of the experiment paper_setting on a machine of its own."""

from argparse import Namespace

import torch

import paper_setting
import train_model3
from nmspeller.lab.models import checkpoint
from nmspeller.lab.training.start import start_model


def test_jobs_are_named_by_n_gram_and_seed():
    found = paper_setting.find_jobs("trigram:2,none:0", "paper_setting")
    assert [job.name for job in found] == [
        "bert-linear-trigram-paper_setting-2",
        "bert-linear-none-paper_setting-0",
    ]


def test_a_start_is_packed_and_unpacked_within_the_rounding_of_a_row(little_prepared, tmp_path):
    vocabulary = little_prepared.vocabulary
    sizes = {"hidden": 64, "layers": 2, "heads": 1, "intermediate": 128, "positions": 160}
    sizes |= {"vocabulary": len(vocabulary), "mask_id": vocabulary.mask}
    model = start_model({"speller": "bert", "encoder": sizes}, None, vocabulary=vocabulary)
    checkpoint.save(tmp_path / "masked_only", model, vocabulary.tokens)
    again = []
    for turn in range(2):
        source, parts, out = (tmp_path / f"{name}{turn}" for name in ("source", "parts", "out"))
        source.mkdir()
        (tmp_path / ("masked_only" if not turn else "out0/masked_only")).rename(source / "masked_only")
        paper_setting.pack(Namespace(checkpoint=source / "masked_only", out=parts, parts=3))
        train_model3.starts(Namespace(parts=parts, out=out, names="masked_only"))
        again.append(checkpoint.load(out / "masked_only")[0].state_dict())
    for name, tensor in model.state_dict().items():
        largest = tensor.abs().amax(dim=-1, keepdim=True) if tensor.ndim == 2 else tensor.abs()
        assert ((again[0][name] - tensor).abs() <= largest / 127 / 2 * 1.01 + 1e-6).all(), name
        torch.testing.assert_close(again[1][name], again[0][name])


def test_the_steps_of_a_second_are_measured(little_prepared, little_start, tmp_path):
    recipe = tmp_path / "short.yaml"
    recipe.write_text(
        "stages: [{copies: {sighan13_train: 40}, batch_sentences: 4, dropout: 0.1,"
        " loop: {on_device: true, packed_tokens: 128, precision: fp32}}]"
    )
    jobs = paper_setting.find_jobs("none:0,trigram:0", str(recipe))
    found = paper_setting.time_steps(
        jobs, Namespace(data=little_prepared.folder, start=little_start, seconds=0.05)
    )
    assert found["steps_a_second"] > 0
    assert found["first_losses"] != found["last_losses"]
    assert len(found["jobs"]) == len(found["last_losses"]) == 2
