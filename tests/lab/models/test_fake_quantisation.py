"""Quantisation-aware training: the numbers are those of the export, and spellers learn with them."""

from pathlib import Path

import numpy as np
import pytest
import torch

from nmspeller import InputError
from nmspeller.lab.export.quantisation import InputQuantisation, Int8Weights
from nmspeller.lab.models import checkpoint, fake_quantisation
from nmspeller.lab.models.attention import Dense
from nmspeller.lab.models.batch import Batch
from nmspeller.lab.models.config import EncoderConfig, MaskingConfig, SpellerConfig
from nmspeller.lab.models.fake_quantisation import (
    FakeQuantisedDense,
    FakeQuantisedOutputLayer,
    fake_quantise_inputs,
    fake_quantise_rows,
)
from nmspeller.lab.models.registry import build
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.training import fp8


@pytest.fixture(params=[None, "trigram"], ids=["BERT", "NM-BERT"])
def speller(request: pytest.FixtureRequest) -> SpellerModel:
    torch.manual_seed(0)
    masking = MaskingConfig(ngram=request.param, active="always") if request.param else None
    sizes = {"vocabulary": 40, "hidden": 32, "layers": 2, "heads": 4, "intermediate": 64, "positions": 16}
    encoder = EncoderConfig(**sizes, mask_id=4, fake_quantised=True)
    model = build(SpellerConfig(speller="bert", encoder=encoder, masking=masking))
    for module in model.modules():
        if isinstance(module, (FakeQuantisedDense, FakeQuantisedOutputLayer)):
            module.scale.fill_(0.05)
            module.zero_point.fill_(128)
    return model.eval()


def test_a_layer_computes_with_the_numbers_of_the_export() -> None:
    random = np.random.default_rng(0)
    values, weights = (random.standard_normal(shape).astype(np.float32) for shape in ((9, 12), (5, 12)))
    scale = np.where(np.arange(12) < 3, 0.08, 0.02).astype(np.float32)
    layer = FakeQuantisedDense(Dense(12, 5))
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weights))
        layer.scale.copy_(torch.from_numpy(scale))
        layer.zero_point.fill_(100)
        found = layer(torch.from_numpy(values)).numpy()
    inputs = InputQuantisation(scale, 100)
    stored = Int8Weights.of(weights, inputs)
    bytes_ = np.clip(np.rint(values / scale) + 100, 0, 255).astype(np.int64)
    sums = (bytes_ - 100) @ stored.weights.astype(np.int64).T
    np.testing.assert_allclose(found, sums * stored.scales + layer.bias.detach().numpy(), atol=1e-4)


def test_quantised_rows_stay_as_they_are() -> None:
    once = fake_quantise_rows(torch.randn(6, 20))
    assert torch.allclose(fake_quantise_rows(once), once, rtol=1e-6)


def test_a_frozen_model_computes_the_same_and_rounds_its_weights_once(
    speller: SpellerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = Batch(torch.randint(5, 40, (3, 9)))
    with torch.no_grad():
        wanted = speller(batch)
        fake_quantisation.freeze(speller)
        again = [speller(batch)]
        fake_quantisation.freeze(speller)  # changes nothing more
        monkeypatch.setattr(fake_quantisation, "fake_quantise_rows", None)
        again.append(speller(batch))
    for found in again:
        assert torch.equal(found, wanted)


def test_gradients_pass_where_nothing_is_clipped() -> None:
    values = torch.tensor([-9.0, -0.31, 0.0, 0.77, 9.0], requires_grad=True)
    fake_quantise_inputs(values, torch.full((5,), 0.1), torch.tensor(20.0)).sum().backward()
    assert values.grad is not None
    assert values.grad.tolist() == [0, 1, 1, 1, 1]
    clipped = fake_quantise_inputs(values, torch.full((5,), 0.01), torch.tensor(20.0))
    assert clipped.tolist() == pytest.approx([-0.2, -0.2, 0.0, 0.77, 2.35])


def test_a_fake_quantised_speller_learns(speller: SpellerModel) -> None:
    ids = torch.randint(5, 40, (8, 12), generator=torch.Generator().manual_seed(1))
    batch = Batch(ids, targets=ids)
    optimiser = torch.optim.AdamW(speller.parameters(), lr=3e-3)
    losses = []
    for _ in range(40):
        loss = speller.loss(batch)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    assert all(parameter.grad is not None for parameter in speller.parameters())


def test_a_fake_quantised_speller_is_the_same_after_a_checkpoint(
    speller: SpellerModel, tmp_path: Path
) -> None:
    ids = torch.randint(5, 40, (2, 12))
    checkpoint.save(tmp_path, speller, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *map(str, range(35))])
    again, _ = checkpoint.load(tmp_path)
    assert torch.equal(again(Batch(ids)), speller(Batch(ids)))
    assert again.config.encoder.fake_quantised


def test_a_fake_quantised_speller_is_not_trained_in_fp8(
    speller: SpellerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (9, 0))
    with pytest.raises(InputError, match="bf16"):
        fp8.apply(speller)


def test_replacing_keeps_names_and_parameters() -> None:
    sizes = {"vocabulary": 40, "hidden": 32, "layers": 1, "heads": 4, "intermediate": 64, "positions": 16}
    masking = MaskingConfig(active="always")
    model = build(SpellerConfig(speller="bert", encoder=EncoderConfig(**sizes, mask_id=4), masking=masking))
    before = dict(model.named_parameters())
    fake_quantisation.apply(model)
    after = dict(model.named_parameters())
    assert after.keys() == before.keys()
    assert all(after[name] is parameter for name, parameter in before.items())
    assert not any(type(module) is Dense for module in model.modules())


def test_the_query_of_the_masking_layer_is_quantised_too(speller: SpellerModel) -> None:
    if speller.semantic.masking is None:
        pytest.skip("BERT has no masking layer")
    seen = []
    qkv = speller.semantic.masking.attention.qkv
    qkv.register_forward_pre_hook(lambda _, inputs, options: seen.append(options), with_kwargs=True)
    ids = torch.randint(5, 40, (2, 12))
    before = speller(Batch(ids))
    assert seen == [{"rows": slice(32)}, {"rows": slice(32, None)}]
    qkv.scale.mul_(4)  # coarser inputs of Q, K and V alike
    attended = speller.semantic.masking.attention.attend
    query, key_value = torch.randn(2, 1, 12, 32).unbind()
    exact = attended(query, key_value, None, Batch(ids[:1]))
    coarse = fake_quantise_inputs(query, qkv.scale, qkv.zero_point)
    assert torch.allclose(attended(coarse, key_value, None, Batch(ids[:1])), exact, atol=1e-6)
    assert not torch.equal(speller(Batch(ids)), before)
