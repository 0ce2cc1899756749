"""Quantisation-aware training: layers that compute with the numbers of an int8 export, and can be trained.

An input becomes a byte, u8 = round(x / scale) + zero_point, clipped to 0..255; a weight matrix becomes int8
with one scale per row. Here the same numbers stay floats: a speller on PyTorch then predicts what its export
will, except where a difference in the last bits is rounded the other way. In training the gradient passes
through the rounding unchanged, and through the clipping only where nothing is clipped.

`apply` puts such layers into a model from outside; the model itself knows nothing of them.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmspeller.lab.models.attention import Dense
from nmspeller.lab.models.encoder import WordEmbedding
from nmspeller.lab.models.speller import OutputLayer


def apply(model: nn.Module) -> None:
    """Replace every dense layer, the word embedding and the output layer of a model, in place.

    Parameters are shared with what is replaced. Scales and zero points start as 1 and 0: load or set them
    before the model is used.
    """
    for owner in list(model.modules()):
        for name, layer in list(owner.named_children()):
            if type(layer) in REPLACEMENTS:
                setattr(owner, name, REPLACEMENTS[type(layer)](layer).train(layer.training))


def freeze(model: nn.Module) -> None:
    """Round the weights once and for all, in place, in a model that is not trained any more."""
    for layer in model.modules():
        if isinstance(layer, FakeQuantisedDense | FakeQuantisedWordEmbedding) and not layer.is_frozen:
            layer.weight = nn.Parameter(layer.rounded(layer.weight.detach()), requires_grad=False)
            layer.is_frozen = True


class FakeQuantisedDense(Dense):
    """A dense layer with fake-quantised inputs and weights; scale and zero point are set, not learnt."""

    scale: Tensor  # (inputs,)
    zero_point: Tensor  # ()
    is_frozen = False

    def __init__(self, dense: Dense) -> None:
        super().__init__(dense.in_features, dense.out_features, device="meta")
        self.weight, self.bias = dense.weight, dense.bias
        _add_input_scale(self, dense.in_features, dense.weight.device)

    def forward(self, input: Tensor, rows: slice | None = None) -> Tensor:
        weight, bias = self.parameters_of(rows)
        weight = weight if self.is_frozen else self.rounded(weight)
        return functional.linear(fake_quantise_inputs(input, self.scale, self.zero_point), weight, bias)

    def rounded(self, weight: Tensor) -> Tensor:
        """Rows of the weight matrix, (outputs, inputs), as the layer computes with them."""
        return fake_quantise_rows(weight * self.scale) / self.scale


class FakeQuantisedWordEmbedding(WordEmbedding):
    """A word embedding whose rows are fake-quantised wherever they are used."""

    is_frozen = False

    def __init__(self, words: WordEmbedding) -> None:
        super().__init__(words.num_embeddings, words.embedding_dim, device="meta")
        self.weight = words.weight

    def table(self) -> Tensor:
        return self.weight if self.is_frozen else self.rounded(self.weight)

    @staticmethod
    def rounded(weight: Tensor) -> Tensor:
        """The rows, (vocabulary, hidden), as they are used."""
        return fake_quantise_rows(weight)


class FakeQuantisedOutputLayer(OutputLayer):
    """An output layer with fake-quantised inputs; its matrix is the word embedding, which is so itself."""

    scale: Tensor  # (hidden,)
    zero_point: Tensor  # ()

    def __init__(self, output: OutputLayer) -> None:
        super().__init__(output.hidden, len(output.bias), 0.0)
        self.bias, self.dropout = output.bias, output.dropout
        _add_input_scale(self, output.hidden, output.bias.device)

    def forward(self, hidden: Tensor, words: Tensor, *, aligned: bool = False) -> Tensor:
        quantised = fake_quantise_inputs(hidden, self.scale, self.zero_point)
        return super().forward(quantised, words, aligned=aligned)


REPLACEMENTS: dict[type[nn.Module], Any] = {
    Dense: FakeQuantisedDense,
    WordEmbedding: FakeQuantisedWordEmbedding,
    OutputLayer: FakeQuantisedOutputLayer,
}


def fake_quantise_inputs(values: Tensor, scale: Tensor, zero_point: Tensor) -> Tensor:
    """The values, (..., inputs), as they are after quantisation to u8 and back."""
    exact = values.float() / scale.float()
    whole = _round(torch.clamp(exact, -zero_point.float(), 255 - zero_point.float()))
    return (whole * scale.float()).to(values.dtype)


def fake_quantise_rows(rows: Tensor) -> Tensor:
    """The rows, (rows, width), as they are after quantisation to int8 with a scale each, and back."""
    exact = rows.float()
    scales = (exact.detach().abs().amax(dim=1, keepdim=True) / 127).clamp(min=1e-12)
    whole = _round(exact / scales)
    return (whole * scales).to(rows.dtype)


def _add_input_scale(module: nn.Module, inputs: int, device: torch.device) -> None:
    module.register_buffer("scale", torch.ones(inputs, device=device))
    module.register_buffer("zero_point", torch.zeros((), device=device))


class _Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        return values.round()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return gradients[0]


_round: Callable[[Tensor], Tensor] = _Round.apply
