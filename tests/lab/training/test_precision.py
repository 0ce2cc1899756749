"""Fewer bits in training: the same direction, weights kept in full, a clear word where there are none."""

import importlib.util
import json
from pathlib import Path

import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import Batch
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.lab.models.encoder import Layer
from nmspeller.lab.training import fp8

_spec = importlib.util.spec_from_file_location("little", Path(__file__).with_name("little.py"))
little = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(little)


def losses(folder):
    return [json.loads(line)["loss"] for line in (folder / "train.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("precision", ["bf16", "all-bf16"])
def test_half_precision_learns_as_single_precision_does(little_prepared, little_start, tmp_path, precision):
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
    """A GPU that multiplies eight-bit floats, played by the processor in single precision."""

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


def test_eight_bits_point_where_sixteen_do(layer, on_a_gpu):
    layer.attention_dropout = 0.0
    layer.dropout = torch.nn.Identity()
    batch = Batch(torch.randint(5, 50, (4, 32)))
    hidden = torch.randn(4, 32, 64, dtype=torch.bfloat16)
    plain = gradients(layer.train(), hidden, batch)
    fp8.use_fp8(layer)
    coarse = gradients(layer, hidden, batch)
    for one, other in zip(plain, coarse, strict=True):
        assert not torch.equal(one, other)
        assert torch.cosine_similarity(one.float().flatten(), other.float().flatten(), dim=0) > 0.97
        assert other.float().norm() == pytest.approx(float(one.float().norm()), rel=0.1)


def test_a_model_at_work_multiplies_as_ever(layer, on_a_gpu):
    batch = Batch(torch.randint(5, 50, (4, 32)))
    hidden = torch.randn(4, 32, 64, dtype=torch.bfloat16)
    before = layer.eval()(hidden, batch)
    fp8.use_fp8(layer)
    assert torch.equal(layer(hidden, batch), before)


def test_a_later_stage_finds_the_layers_as_they_were(layer, on_a_gpu):
    before = str(layer)
    fp8.use_fp8(layer)
    assert str(layer) != before
    fp8.remove_fp8(layer)
    assert str(layer) == before


def test_what_is_too_large_is_held_at_the_largest_value(on_a_gpu):
    small = fp8._small(torch.tensor([1e6, -1e6, 1.0]), 1.0, torch.float8_e4m3fn)
    assert small.float().tolist() == [448.0, -448.0, 1.0]


def test_without_such_a_gpu_it_says_so(little_prepared, little_start, tmp_path):
    with pytest.raises(InputError, match="use bf16"):
        little.train(little_prepared, little_start, tmp_path, precision="fp8")
