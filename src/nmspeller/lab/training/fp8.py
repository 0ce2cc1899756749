"""Matrix products in fp8, for pretraining on GPUs that multiply it twice as fast as bfloat16.

The forward product and the gradient of the input are computed in fp8. The gradient of the weights, which adds
up over a whole batch, stays in bfloat16. Finding a tensor's largest value before each product costs more time
than the product saves, so the scales are fixed: values between the layers of a BERT are normalised, and those
that are too large are clipped to the largest fp8 number.

`apply` puts such layers into a model from outside, and `remove` takes them out again.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from nmspeller.errors import InputError
from nmspeller.lab.models.attention import Attention, Dense, FeedForward
from nmspeller.lab.models.fake_quantisation import FakeQuantisedDense

# Values: four bits of exponent, three of fraction; 0.002 to 448. Gradients: five and two; 1.5e-5 to 57,344.
_VALUES, _GRADIENTS = torch.float8_e4m3fn, torch.float8_e5m2
_WEIGHT_SCALE = 2.0**-6
_GRADIENT_SCALE = 2.0**-21  # the mean over a batch of 100,000 tokens leaves each with a very small gradient


def apply(model: nn.Module) -> None:
    """Replace the dense layers of every transformer layer of a model, in place; parameters are shared.

    Raises:
        InputError: this device cannot multiply fp8, or the model is fake-quantised.
    """
    if not torch.cuda.is_available() or torch.cuda.get_device_capability() < (8, 9):
        raise InputError("precision fp8 needs an NVIDIA GPU of the Ada or Hopper kind or later; use bf16.")
    if any(isinstance(module, FakeQuantisedDense) for module in model.modules()):
        raise InputError("a fake-quantised model cannot be trained in fp8; use bf16.")
    _replace(model, Dense, Fp8Dense)


def remove(model: nn.Module) -> None:
    """Undo `apply`: a later stage may use another precision."""
    _replace(model, Fp8Dense, _plain)


class Fp8Dense(Dense):
    """A dense layer that multiplies in fp8 in training, and as any other in prediction."""

    def __init__(self, dense: Dense) -> None:
        super().__init__(dense.in_features, dense.out_features, device="meta")
        self.weight, self.bias = dense.weight, dense.bias

    def forward(self, input: Tensor, rows: slice | None = None) -> Tensor:
        if not self.training:
            return super().forward(input, rows)
        return _product(input, *self.parameters_of(rows))


def _plain(layer: Fp8Dense) -> Dense:
    plain = Dense(layer.in_features, layer.out_features, device="meta")
    plain.weight, plain.bias = layer.weight, layer.bias
    return plain


def _replace(model: nn.Module, kind: type[Dense], make: Any) -> None:
    """Replace each dense layer of this kind in a transformer layer by what `make` makes of it."""
    for owner in list(model.modules()):
        if isinstance(owner, (Attention, FeedForward)):
            for name, layer in list(owner.named_children()):
                if type(layer) is kind:
                    setattr(owner, name, make(layer).train(layer.training))


class _Product(torch.autograd.Function):
    """x (..., width), weight (outputs, width), bias (outputs,), all in bfloat16 → (..., outputs)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        rows = x.reshape(-1, x.shape[-1])
        weight = _to_fp8(weight, _WEIGHT_SCALE, _VALUES)
        ctx.save_for_backward(rows, weight)
        product = _multiply(_to_fp8(rows, 1.0, _VALUES), weight.t(), 1.0, bias)
        return product.reshape(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rows, weight = ctx.saved_tensors
        shape = gradients[0].shape
        gradient = gradients[0].reshape(-1, shape[-1])
        scaled = _to_fp8(gradient, _GRADIENT_SCALE, _GRADIENTS)
        # The kernel wants its right operand in column-major order.
        of_rows = _multiply(scaled, weight.t().contiguous().t(), _GRADIENT_SCALE, None)
        return of_rows.reshape(*shape[:-1], -1), gradient.t() @ rows, gradient.sum(dim=0)


_product: Callable[[Tensor, Tensor, Tensor], Tensor] = _Product.apply


def _to_fp8(values: Tensor, scale: float, kind: torch.dtype) -> Tensor:
    """values / scale in fp8, clipped to its range."""
    largest = torch.finfo(kind).max
    return (values.float() / scale).clamp(-largest, largest).to(kind)


def _multiply(left: Tensor, weight: Tensor, scale: float, bias: Tensor | None) -> Tensor:
    """left * scale, times the weights * their scale, plus bias, in bfloat16."""
    own, others = (torch.full((), value, device=left.device) for value in (scale, _WEIGHT_SCALE))
    return torch._scaled_mm(
        left, weight, scale_a=own, scale_b=others, bias=bias, out_dtype=torch.bfloat16, use_fast_accum=True
    )
