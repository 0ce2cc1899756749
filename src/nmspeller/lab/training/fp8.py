"""Products in eight-bit floats, for pretraining on GPUs that multiply these twice as fast as bfloat16.

Forward and the gradient of the input are computed in eight bits; the gradient of the weights, which adds up
over a whole batch, stays in bfloat16. To look for a tensor's largest value before each product costs more
time than the product saves, so the scales are fixed: what passes between the layers of a BERT is normalised,
and what is too large is held at the largest value that eight bits can say.
"""

from typing import Any

import torch
from torch import Tensor, nn

from nmspeller.errors import InputError
from nmspeller.lab.models.encoder import Layer
from nmspeller.lab.models.fake_quantisation import FakeQuantisedLinear

# Values: four bits of exponent, three of fraction; 0.002 to 448. Gradients: five and two; 1.5e-5 to 57,344.
_VALUES, _GRADIENTS = torch.float8_e4m3fn, torch.float8_e5m2
_WEIGHT_SCALE = 2.0**-6
_GRADIENT_SCALE = 2.0**-21  # a mean over a batch of 100,000 tokens leaves each of them with so little


class EightBitLinear(nn.Linear):
    """A dense layer that multiplies in eight bits while it is trained, and as ever while it is not."""

    def forward(self, input: Tensor) -> Tensor:
        if not self.training:
            return super().forward(input)
        product: Tensor = _Product.apply(input, self.weight, self.bias)
        return product


def use_fp8(model: nn.Module) -> None:
    """Let the dense layers of every transformer layer multiply in eight bits from now on.

    Raises:
        InputError: this device cannot.
    """
    if not torch.cuda.is_available() or torch.cuda.get_device_capability() < (8, 9):
        raise InputError("precision fp8 needs an NVIDIA GPU of the Ada or Hopper kind or later; use bf16.")
    if any(isinstance(module, FakeQuantisedLinear) for module in model.modules()):
        raise InputError("a rounded model cannot be trained in fp8; use bf16.")
    for layer in model.modules():
        if isinstance(layer, Layer):
            for dense in (layer.qkv, layer.out, layer.up, layer.down):
                dense.__class__ = EightBitLinear


def remove_fp8(model: nn.Module) -> None:
    """Undo `use_fp8`: a stage that follows may ask for another precision."""
    for module in model.modules():
        if type(module) is EightBitLinear:
            object.__setattr__(module, "__class__", nn.Linear)


class _Product(torch.autograd.Function):
    """x (..., width), weight (outputs, width), bias (outputs,), all in bfloat16 → (..., outputs)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        rows = x.reshape(-1, x.shape[-1])
        weight = _small(weight, _WEIGHT_SCALE, _VALUES)
        ctx.save_for_backward(rows, weight)
        product = _multiply(_small(rows, 1.0, _VALUES), weight.t(), 1.0, bias)
        return product.reshape(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rows, weight = ctx.saved_tensors
        shape = gradients[0].shape
        gradient = gradients[0].reshape(-1, shape[-1])
        small = _small(gradient, _GRADIENT_SCALE, _GRADIENTS)
        # The kernel wants its right side column by column.
        of_rows = _multiply(small, weight.t().contiguous().t(), _GRADIENT_SCALE, None)
        return of_rows.reshape(*shape[:-1], -1), gradient.t() @ rows, gradient.sum(dim=0)


def _small(values: Tensor, scale: float, kind: torch.dtype) -> Tensor:
    """values / scale in eight bits."""
    largest = torch.finfo(kind).max
    return (values.float() / scale).clamp(-largest, largest).to(kind)


def _multiply(left: Tensor, weight: Tensor, scale: float, bias: Tensor | None) -> Tensor:
    """left * scale, times the weights * their scale, plus bias, in bfloat16."""
    own, others = (torch.full((), value, device=left.device) for value in (scale, _WEIGHT_SCALE))
    return torch._scaled_mm(
        left, weight, scale_a=own, scale_b=others, bias=bias, out_dtype=torch.bfloat16, use_fast_accum=True
    )
