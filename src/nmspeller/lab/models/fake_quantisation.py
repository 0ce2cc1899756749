"""Dense layers that compute with rounded numbers, as an exported model does, and that can be trained so.

An input becomes a byte, u8 = round(x / step) + zero, held to 0..255, and the weights become int8 with one
scale a row. Here the same numbers are kept as floats: a speller on PyTorch then says what its export will
say, but for what differs in the last bits and is then rounded the other way. In training the gradient passes
through the rounding as if it were not there, and through the holding only where nothing is held.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmspeller.lab.models.config import EncoderConfig


class FakeQuantisedLinear(nn.Linear):
    """A dense layer whose inputs and weights are rounded; `steps` and `zero` are set before, not learnt."""

    steps: Tensor  # (inputs,)
    zero: Tensor  # ()

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.register_buffer("steps", torch.ones(inputs))
        self.register_buffer("zero", torch.zeros(()))

    def forward(self, input: Tensor) -> Tensor:
        """(..., inputs) → (..., outputs)"""
        rows = fake_quantise_rows(self.weight * self.steps) / self.steps
        return functional.linear(fake_quantise_inputs(input, self.steps, self.zero), rows, self.bias)


def dense(config: EncoderConfig, inputs: int, outputs: int) -> nn.Linear:
    """A dense layer of the kind that the config asks for."""
    return FakeQuantisedLinear(inputs, outputs) if config.fake_quantised else nn.Linear(inputs, outputs)


def fake_quantise_inputs(values: Tensor, steps: Tensor, zero: Tensor) -> Tensor:
    """What is left of the values, (..., inputs), when they become bytes."""
    exact = values.float() / steps.float()
    whole: Tensor = _Round.apply(torch.clamp(exact, -zero.float(), 255 - zero.float()))
    return (whole * steps.float()).to(values.dtype)


def fake_quantise_rows(rows: Tensor) -> Tensor:
    """What is left of the rows, (rows, width), when they become int8 with a scale each."""
    exact = rows.float()
    scales = (exact.detach().abs().amax(dim=1, keepdim=True) / 127).clamp(min=1e-12)
    whole: Tensor = _Round.apply(exact / scales)
    return (whole * scales).to(rows.dtype)


class _Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        return values.round()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return gradients[0]
