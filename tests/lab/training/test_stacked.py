"""Spellers that are trained together learn what each of them would learn alone."""

import numpy as np
import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import PackedBatch
from nmspeller.lab.models.stacked import StackedSpellers, laid_end_to_end
from nmspeller.lab.training.device_pairs import DevicePairs
from nmspeller.lab.training.device_trainer import DeviceTrainer, Trainee
from nmspeller.lab.training.optimisation import Optimiser, OptimiserConfig
from nmspeller.lab.training.stacked_adamw import StackedAdamW
from nmspeller.lab.training.start import start_model
from nmspeller.lab.training.trainer import LoopConfig

BERT = {"speller": "bert", "head": "linear"}
DESCRIPTIONS = [BERT, BERT, *({**BERT, "masking": {"ngram": ngram}} for ngram in ("trigram", "right-bigram"))]


@pytest.fixture
def pairs(little_prepared):
    sets = [little_prepared.pairs("sighan13_train"), little_prepared.pairs("sighan15_train")] * 4
    return DevicePairs(sets, little_prepared.vocabulary, sentences=4, tokens=140)


def models(little_start, descriptions=DESCRIPTIONS, dropout=0.0):
    return [
        start_model(description, little_start, dropout=dropout, seed=number)
        for number, description in enumerate(descriptions)
    ]


@pytest.mark.parametrize("head", ["linear", "mlm"])
def test_losses_and_gradients_are_those_of_each_speller(little_start, pairs, head):
    spellers = models(little_start, [{**each, "head": head} for each in DESCRIPTIONS])
    random = np.random.default_rng(0)
    batches = [pairs.batch(torch.from_numpy(random.permutation(8)[:4])) for _ in spellers]
    stacked = StackedSpellers(spellers)
    weights = {name: tensor.requires_grad_() for name, tensor in stacked.weights().items()}
    losses = stacked.losses(weights, laid_end_to_end(batches))
    losses.sum().backward()
    for number, (speller, batch) in enumerate(zip(spellers, batches, strict=True)):
        loss = speller.train().loss(batch)
        loss.backward()
        torch.testing.assert_close(losses[number], loss)
        for name, parameter in speller.named_parameters():
            first = 2 if "masking" in name else 0
            torch.testing.assert_close(weights[name].grad[number - first, : len(parameter)], parameter.grad)


def test_spellers_with_masking_alone_are_stacked_as_well(little_start, pairs):
    spellers = models(little_start, DESCRIPTIONS[2:])
    batch = pairs.batch(torch.arange(4))
    losses = StackedSpellers(spellers)
    found = losses.losses(losses.weights(), laid_end_to_end([batch, batch]))
    torch.testing.assert_close(found, torch.stack([speller.train().loss(batch) for speller in spellers]))


def test_weights_come_back_as_they_were_stacked(little_start):
    spellers = models(little_start)
    stacked = StackedSpellers(spellers)
    weights = {name: tensor + 1 for name, tensor in stacked.weights().items()}
    before = [{name: tensor.clone() for name, tensor in each.named_parameters()} for each in spellers]
    stacked.hand_back(weights)
    for speller, old in zip(spellers, before, strict=True):
        for name, parameter in speller.named_parameters():
            assert torch.equal(parameter, old[name] + 1), name


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@pytest.mark.parametrize("default_betas", [False, True])
def test_a_step_is_that_of_adamw_for_each_speller(little_start, pairs, weight_decay, default_betas):
    config = OptimiserConfig(rate=1e-3, weight_decay=weight_decay, default_betas=default_betas, clip=0.5)
    spellers = models(little_start)
    stacked = StackedSpellers(spellers)
    together = StackedAdamW(stacked.weights(), config, spellers=4, halved=False, compiled=False)
    own = models(little_start)
    alone = [Optimiser(speller, config) for speller in own]
    for step, factor in enumerate((0.1, 1.0, 0.5)):
        batches = [pairs.batch(torch.arange(4) + number + step) for number in range(4)]
        losses = stacked.losses(together.leaves, laid_end_to_end(batches))
        gradients = torch.autograd.grad(losses.sum(), list(together.leaves.values()))
        together.set_rate(factor)
        norms = together.move(dict(zip(together.leaves, gradients, strict=True)))
        for number, (speller, optimiser) in enumerate(zip(own, alone, strict=True)):
            speller.train().loss(batches[number]).backward()
            torch.testing.assert_close(norms[number], optimiser.step(factor), rtol=1e-4, atol=1e-5)
    stacked.hand_back(together.masters)
    for speller, expected in zip(spellers, own, strict=True):
        for name, parameter in speller.named_parameters():
            torch.testing.assert_close(parameter, expected.get_parameter(name), rtol=1e-3, atol=2e-5)


def test_halved_matrices_follow_their_masters(little_start):
    weights = StackedSpellers(models(little_start)).weights()
    optimiser = StackedAdamW(weights, OptimiserConfig(rate=0.1), spellers=4, halved=True, compiled=False)
    dense = "semantic.layers.0.feed_forward.up.weight"
    assert optimiser.leaves[dense].dtype == torch.bfloat16
    assert optimiser.leaves["semantic.embeddings.words.weight"].dtype == torch.float32
    before = optimiser.leaves[dense].clone()
    optimiser.set_rate(1.0)
    optimiser.move({name: torch.ones_like(leaf) for name, leaf in optimiser.leaves.items()})
    assert not torch.equal(optimiser.leaves[dense], before)
    assert torch.equal(optimiser.leaves[dense], optimiser.masters[dense].bfloat16())


def test_what_is_trained_together_is_what_is_trained_alone(little_start, pairs, tmp_path):
    config = LoopConfig(
        optimiser=OptimiserConfig(rate=1e-3), on_device=True, packed_tokens=140, precision="fp32",
        log_every=1, save_seconds=0,
    )  # fmt: skip
    together, alone = models(little_start), models(little_start)

    def train(spellers, folder, seed=7):
        seen = [[] for _ in spellers]
        trainees = [
            Trainee(speller, seed + number, folder / str(number), seen[number].append)
            for number, speller in enumerate(spellers)
        ]
        DeviceTrainer(trainees, pairs, config, epochs=2).run()
        return [[progress.loss for progress in each] for each in seen]

    found = train(together, tmp_path / "together")
    for number in (0, 3):
        (expected,) = train([alone[number]], tmp_path / f"alone{number}", seed=7 + number)
        np.testing.assert_allclose(found[number], expected, rtol=1e-3)
    assert len({tuple(losses) for losses in found}) == 4, "each has an order of its own"
    logs = [(tmp_path / "together" / str(number) / "train.jsonl").read_text() for number in range(4)]
    assert len(set(logs)) == 4


def test_spellers_of_different_sizes_are_not_trained_together(little_start):
    one, other = models(little_start, [BERT, {"speller": "bert", "head": "mlm"}])
    with pytest.raises(InputError, match="same sizes"):
        StackedSpellers([one, other])


def test_batches_laid_end_to_end_are_a_packed_batch(pairs):
    batches = [pairs.batch(torch.arange(4) + number) for number in range(3)]
    joined = laid_end_to_end(batches)
    assert isinstance(joined, PackedBatch)
    assert joined.cumulative.dtype == torch.int32
    assert joined.cumulative[-1] == len(joined.ids) == 3 * 140
    assert len(joined.slots.unique()) == 3 * 140
    rows = len(batches[0].cumulative) - 1
    assert joined.real.sum() == 3 * 140
    assert joined.real.shape == (3 * rows, 128)
