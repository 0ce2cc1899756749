"""Lower precision in training: the same direction, fp32 weights, a clear error on other devices."""

import importlib.util
import json
from pathlib import Path

import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import Batch
from nmspeller.lab.models.config import EncoderConfig, MaskingConfig, SpellerConfig
from nmspeller.lab.models.encoder import Layer
from nmspeller.lab.models.registry import build
from nmspeller.lab.training import fp8

_spec = importlib.util.spec_from_file_location("little", Path(__file__).with_name("little.py"))
little = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(little)


def losses(folder):
    return [json.loads(line)["loss"] for line in (folder / "train.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("precision", ["bf16", "all-bf16"])
def test_half_precision_gives_the_losses_of_single_precision(
    little_prepared, little_start, tmp_path, precision
):
    little.train(little_prepared, little_start, tmp_path / "single", dropout=0.0)
    model, _ = little.train(
        little_prepared, little_start, tmp_path / "half", dropout=0.0, precision=precision
    )
    single, half = losses(tmp_path / "single"), losses(tmp_path / "half")
    assert single != half
    assert half == pytest.approx(single, rel=0.02)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


@pytest.fixture
def layer():
    torch.manual_seed(0)
    sizes = EncoderConfig(vocabulary=50, hidden=64, layers=1, heads=2, intermediate=128, mask_id=4)
    return Layer(sizes).to(torch.bfloat16)


@pytest.fixture
def on_a_gpu(monkeypatch):
    """A GPU that multiplies fp8, simulated on the CPU in single precision."""

    def multiply(left, weight, scale, bias):
        product = (left.float() * scale) @ (weight.float() * fp8._WEIGHT_SCALE)
        return (product if bias is None else product + bias.float()).bfloat16()

    monkeypatch.setattr(fp8, "_multiply", multiply)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (9, 0))


def gradients(layer, hidden, batch):
    layer.zero_grad()
    hidden = hidden.clone().requires_grad_()
    # A large batch's mean leaves each token with a gradient as small as this.
    wanted = torch.randn(hidden.shape, generator=torch.Generator().manual_seed(1))
    ((layer(hidden, batch).float() - wanted).square().sum() / 2**20).backward()
    return [hidden.grad, *(parameter.grad for parameter in layer.parameters())]


def test_gradients_in_fp8_have_the_direction_of_those_in_bf16(layer, on_a_gpu):
    layer.attention.dropout_probability = 0.0
    layer.dropout = torch.nn.Identity()
    batch = Batch(torch.randint(5, 50, (4, 32)))
    hidden = torch.randn(4, 32, 64, dtype=torch.bfloat16)
    plain = gradients(layer.train(), hidden, batch)
    fp8.apply(layer)
    coarse = gradients(layer, hidden, batch)
    for one, other in zip(plain, coarse, strict=True):
        assert not torch.equal(one, other)
        assert torch.cosine_similarity(one.float().flatten(), other.float().flatten(), dim=0) > 0.97
        assert other.float().norm() == pytest.approx(float(one.float().norm()), rel=0.1)


def test_prediction_is_not_in_fp8(layer, on_a_gpu):
    batch = Batch(torch.randint(5, 50, (4, 32)))
    hidden = torch.randn(4, 32, 64, dtype=torch.bfloat16)
    before = layer.eval()(hidden, batch)
    fp8.apply(layer)
    assert torch.equal(layer(hidden, batch), before)


def test_removing_fp8_restores_the_layers(layer, on_a_gpu):
    before = str(layer)
    fp8.apply(layer)
    assert str(layer) != before
    fp8.remove(layer)
    assert str(layer) == before


def test_values_that_are_too_large_are_clipped(on_a_gpu):
    small = fp8._to_fp8(torch.tensor([1e6, -1e6, 1.0]), 1.0, torch.float8_e4m3fn)
    assert small.float().tolist() == [448.0, -448.0, 1.0]


def test_a_device_without_fp8_is_an_error(little_prepared, little_start, tmp_path):
    with pytest.raises(InputError, match="use bf16"):
        little.train(little_prepared, little_start, tmp_path, precision="fp8")


@pytest.fixture
def masked_bert():
    torch.manual_seed(0)
    sizes = {"vocabulary": 50, "hidden": 64, "layers": 1, "heads": 2, "intermediate": 128, "positions": 16}
    encoder = EncoderConfig(**sizes, mask_id=4, dropout=0.0, attention_dropout=0.0)
    return build(SpellerConfig(speller="bert", encoder=encoder, masking=MaskingConfig())).train()


def test_a_masked_bert_trains_in_fp8_and_its_query_too(masked_bert, on_a_gpu, monkeypatch):
    fp8.apply(masked_bert)
    shapes = []
    multiply = fp8._multiply
    monkeypatch.setattr(fp8, "_multiply", lambda *args: shapes.append(args[1].shape) or multiply(*args))
    masked_bert.bfloat16()
    ids = torch.randint(5, 50, (8, 12), generator=torch.Generator().manual_seed(1))
    optimiser = torch.optim.SGD(masked_bert.parameters(), lr=1.0)
    losses = []
    for _ in range(20):
        loss = masked_bert.loss(Batch(ids, targets=ids))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.9 * losses[0]
    # Of the masking layer: Q, then K and V, each as a product in fp8.
    assert [tuple(shape) for shape in shapes[:2]] == [(64, 64), (64, 128)]
