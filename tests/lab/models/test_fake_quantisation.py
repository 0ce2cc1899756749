"""Dense layers that compute with rounded numbers: what they say, and that they can be trained."""

from pathlib import Path

import numpy as np
import pytest
import torch

from nmspeller import InputError
from nmspeller.lab.export.quantisation import Inputs, Integers
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.batch import Batch
from nmspeller.lab.models.bert import BertConfig, BertSpeller
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.lab.models.fake_quantisation import (
    FakeQuantisedLinear,
    fake_quantise_inputs,
    fake_quantise_rows,
)
from nmspeller.lab.training.fp8 import use_fp8


@pytest.fixture
def speller() -> BertSpeller:
    torch.manual_seed(0)
    sizes = {"vocabulary": 40, "hidden": 32, "layers": 2, "heads": 4, "intermediate": 64, "positions": 16}
    model = BertSpeller(BertConfig(encoder=EncoderConfig(**sizes, mask_id=4, fake_quantised=True)))
    for module in model.modules():
        if isinstance(module, FakeQuantisedLinear) or module is model.head:
            module.steps.fill_(0.05)
            module.zero.fill_(128)
    return model.eval()


def test_it_rounds_as_the_export_does() -> None:
    random = np.random.default_rng(0)
    values, weights = (random.standard_normal(shape).astype(np.float32) for shape in ((9, 12), (5, 12)))
    steps = np.where(np.arange(12) < 3, 0.08, 0.02).astype(np.float32)
    layer = FakeQuantisedLinear(12, 5)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weights))
        layer.steps.copy_(torch.from_numpy(steps))
        layer.zero.fill_(100)
        found = layer(torch.from_numpy(values)).numpy()
    inputs = Inputs(steps, 100)
    stored = Integers.of(weights, inputs)
    bytes_ = np.clip(np.rint(values / steps) + 100, 0, 255).astype(np.int64)
    sums = (bytes_ - 100) @ stored.weights.astype(np.int64).T
    np.testing.assert_allclose(found, sums * stored.scales + layer.bias.detach().numpy(), atol=1e-4)


def test_rows_that_are_rounded_stay_as_they_are() -> None:
    once = fake_quantise_rows(torch.randn(6, 20))
    assert torch.allclose(fake_quantise_rows(once), once, rtol=1e-6)


def test_gradients_pass_where_nothing_is_held() -> None:
    values = torch.tensor([-9.0, -0.31, 0.0, 0.77, 9.0], requires_grad=True)
    fake_quantise_inputs(values, torch.full((5,), 0.1), torch.tensor(20.0)).sum().backward()
    assert values.grad is not None
    assert values.grad.tolist() == [0, 1, 1, 1, 1]
    held = fake_quantise_inputs(values, torch.full((5,), 0.01), torch.tensor(20.0))
    assert held.tolist() == pytest.approx([-0.2, -0.2, 0.0, 0.77, 2.35])


def test_a_rounded_speller_learns(speller: BertSpeller) -> None:
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


def test_a_rounded_speller_survives_a_checkpoint(speller: BertSpeller, tmp_path: Path) -> None:
    ids = torch.randint(5, 40, (2, 12))
    checkpoint.save(tmp_path, speller, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *map(str, range(35))])
    again, _ = checkpoint.load(tmp_path)
    assert torch.equal(again(Batch(ids)), speller(Batch(ids)))
    assert again.config.encoder.fake_quantised


def test_it_is_not_trained_in_eight_bit_floats(speller: BertSpeller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (9, 0))
    with pytest.raises(InputError, match="bf16"):
        use_fp8(speller)
