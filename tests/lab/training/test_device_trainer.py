"""Pairs that are packed on the device give the batches, and the losses, of pairs that are packed before."""

import json

import numpy as np
import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.data.prepared import PairArrays
from nmspeller.lab.models.batch import pack
from nmspeller.lab.training.batches import Layout
from nmspeller.lab.training.corruption import with_specials
from nmspeller.lab.training.device_pairs import DevicePairs
from nmspeller.lab.training.device_trainer import DeviceTrainer, Trainee
from nmspeller.lab.training.finetune import finetune
from nmspeller.lab.training.optimisation import OptimiserConfig
from nmspeller.lab.training.recipes import read_recipe
from nmspeller.lab.training.start import start_model
from nmspeller.lab.training.trainer import LoopConfig

LOOP = {
    "optimiser": {"rate": 2e-3, "default_betas": True},
    "on_device": True,
    "packed_tokens": 128,
    "precision": "fp32",
    "log_every": 1,
    "save_seconds": 0.001,
}
STAGE = {
    "copies": {"sighan13_train": 3, "sighan15_train": 1},
    "epochs": 3,
    "batch_sentences": 4,
    "dropout": 0.1,
    "loop": LOOP,
}


def pairs_of_lengths(lengths, vocabulary, seed=0):
    random = np.random.default_rng(seed)
    source, target = random.integers(vocabulary.unk, len(vocabulary), (2, sum(lengths))).astype(np.uint16)
    return PairArrays(source, target, np.concatenate(([0], np.cumsum(lengths))))


def rows_of(sets, numbers, vocabulary, limit=126):
    everything = [pairs[index] for pairs in sets for index in range(len(pairs))]
    return [
        with_specials(*(side[:limit].astype(np.int64) for side in everything[number]), vocabulary)
        for number in numbers
    ]


def test_a_batch_is_that_of_its_rows_and_of_rows_of_padding(little_prepared):
    vocabulary = little_prepared.vocabulary
    sets = [pairs_of_lengths(lengths, vocabulary) for lengths in ([3, 200, 1], [5, 2, 7, 126])]
    pairs = DevicePairs(sets, vocabulary, sentences=3, tokens=512)
    for numbers in ([0, 1, 2], [4, 6, 1], [2, 0, 4]):
        batch = pairs.batch(torch.tensor(numbers))
        rows = rows_of(sets, numbers, vocabulary)
        expected = pack([row.ids for row in rows], [row.targets for row in rows], longest=128)
        real = len(expected.ids)
        for name in ("ids", "positions", "slots", "targets"):
            assert torch.equal(getattr(batch, name)[:real], getattr(expected, name)), name
        assert torch.equal(batch.cumulative[:4], expected.cumulative)
        assert batch.cumulative.diff().max() <= 128
        assert batch.cumulative[-1] == len(batch.ids) == 512
        assert (batch.ids[real:] == vocabulary.pad).all()
        assert (batch.targets[real:] == -100).all()
        assert len(batch.slots.unique()) == 512


def test_padding_changes_no_loss_and_no_gradient(little_prepared, little_start):
    vocabulary = little_prepared.vocabulary
    sets = [pairs_of_lengths([3, 9, 20, 1], vocabulary)]
    model = start_model({"speller": "bert", "masking": {"ngram": "trigram"}}, little_start, dropout=0.0)
    own = DevicePairs(sets, vocabulary, sentences=3, tokens=300).batch(torch.tensor([2, 0, 3]))
    other = Layout(packed=True)(rows_of(sets, [2, 0, 3], vocabulary), vocabulary.pad)
    gradients = []
    for batch in (own, other):
        model.zero_grad()
        model.loss(batch).backward()
        gradients.append([parameter.grad.clone() for parameter in model.parameters()])
    for first, second in zip(*gradients, strict=True):
        torch.testing.assert_close(first, second)


def test_an_epoch_has_every_pair_once_and_no_step_is_too_long(little_prepared):
    lengths = np.random.default_rng(1).integers(1, 60, size=403).tolist()
    pairs = DevicePairs([pairs_of_lengths(lengths, little_prepared.vocabulary)], little_prepared.vocabulary,
                        sentences=8, tokens=280)  # fmt: skip
    order = pairs.order(np.random.default_rng(0))
    assert order.shape == (50, 8) == (len(pairs), 8)
    assert len(np.unique(order)) == 400
    widths = np.array(lengths)[order].sum(axis=1) + 16
    assert widths.max() <= 280
    assert (
        np.array(lengths)[np.random.default_rng(0).permutation(403)[:400].reshape(50, 8)].sum(1) > 264
    ).any()
    assert not np.array_equal(order, pairs.order(np.random.default_rng(1)))


def test_sentences_that_do_not_fit_are_an_error(little_prepared):
    pairs = DevicePairs([pairs_of_lengths([60] * 20, little_prepared.vocabulary)], little_prepared.vocabulary,
                        sentences=4, tokens=200)  # fmt: skip
    with pytest.raises(InputError, match="raise packed_tokens"):
        pairs.order(np.random.default_rng(0))
    with pytest.raises(InputError, match="only 20"):
        DevicePairs([pairs_of_lengths([6] * 20, little_prepared.vocabulary)], little_prepared.vocabulary,
                    sentences=21, tokens=200)  # fmt: skip


def run(prepared, start, out, **options):
    seen = []
    model = start_model({"speller": "bert"}, start, vocabulary=prepared.vocabulary)
    recipe = read_recipe({"stages": [STAGE]})
    finetune(model, recipe, prepared, out=out, seed=3, report=seen.append, **options)
    return model, seen


def test_losses_fall_and_every_epoch_is_announced(little_prepared, little_start, tmp_path):
    epochs = []
    model, seen = run(little_prepared, little_start, tmp_path, after_epoch=epochs.append)
    assert epochs == [1, 2, 3]
    steps = len(seen) // 3
    assert [progress.step for progress in seen] == list(range(1, 3 * steps + 1))
    assert sum(p.loss for p in seen[-steps:]) < sum(p.loss for p in seen[:steps])
    # Linear: up in the first tenth, then down to nothing.
    rates = [progress.rate for progress in seen]
    assert max(rates) <= 2e-3
    assert rates[-1] < 2e-4
    assert not model.training


def test_a_training_resumes_after_its_last_epoch_with_the_same_losses(
    little_prepared, little_start, tmp_path
):
    whole, expected = run(little_prepared, little_start, tmp_path / "whole")

    def stop(epoch):
        if epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(little_prepared, little_start, tmp_path / "stopped", after_epoch=stop)
    resumed, seen = run(little_prepared, little_start, tmp_path / "stopped")
    assert [progress.loss for progress in seen] == [p.loss for p in expected[len(expected) // 3 :]]
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[name]), name
    log = [json.loads(line) for line in (tmp_path / "stopped" / "stage0.jsonl").read_text().splitlines()]
    assert [line["step"] for line in log] == [progress.step for progress in expected]


def test_only_bert_has_shapes_that_do_not_depend_on_the_batch(little_prepared, little_start, tmp_path):
    model = start_model({"speller": "dcn"}, little_start, tables=little_prepared.folder / "characters.npz")
    with pytest.raises(InputError, match="only BERT"):
        finetune(model, read_recipe({"stages": [STAGE]}), little_prepared, out=tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"synthetic": 5},
        {"batch_sentences": None, "batch_tokens": 100},
        {"loop": {**LOOP, "packed_tokens": None}},
        {"loop": {**LOOP, "seconds": 5}},
        {"loop": {**LOOP, "precision": "fp8"}},
    ],
)
def test_settings_that_contradict_on_device_are_errors(change):
    with pytest.raises(InputError, match="on_device"):
        read_recipe({"stages": [{**STAGE, **change}]})


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("compiled", [False, True])
def test_a_graph_takes_the_steps_that_are_written(little_prepared, little_start, tmp_path, compiled):
    losses = []
    for device in ("cpu", "cuda"):
        model = start_model({"speller": "bert", "masking": {"ngram": "trigram"}}, little_start, dropout=0.0)
        model.to(device)
        config = LoopConfig(
            optimiser=OptimiserConfig(rate=2e-3), on_device=True, packed_tokens=128, precision="fp32",
            log_every=1, save_seconds=0, compile=compiled and device == "cuda",
        )  # fmt: skip
        sets = [little_prepared.pairs("sighan13_train")] * 8
        pairs = DevicePairs(sets, little_prepared.vocabulary, sentences=4, tokens=128, device=device)
        seen = []
        DeviceTrainer([Trainee(model, 0, tmp_path / device, seen.append)], pairs, config, epochs=2).run()
        losses.append([progress.loss for progress in seen])
    np.testing.assert_allclose(*losses, rtol=1e-2)
