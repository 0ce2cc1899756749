"""Quantisation of a speller that is in PyTorch's memory: activations are seen there, ONNX is not needed."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from nmspeller.lab.export.fitting import Samples, fit_to_samples
from nmspeller.lab.export.weights import TABLE, SpellerWeights
from nmspeller.lab.models.attention import Dense
from nmspeller.lab.models.batch import pack
from nmspeller.lab.models.registry import from_arrays
from nmspeller.lab.models.speller import OutputLayer, SpellerModel

ROWS = 8192  # tokens: enough for a layer of 3,072 inputs


def fake_quantised(model: SpellerModel, rows: Sequence[Any]) -> SpellerModel:
    """A BERT speller for quantisation-aware training, fitted to rows of ids, each [CLS] … [SEP]."""
    samples = torch_activations(model, rows)
    weights = {name: tensor.detach().float().cpu().numpy() for name, tensor in model.state_dict().items()}
    speller = SpellerWeights(model.config.encoder, weights, Path())
    fitted = fit_to_samples(speller, samples)
    return from_arrays(
        fitted.encoder, {name: np.array(array, order="C") for name, array in fitted.weights.items()}
    )


@torch.no_grad()
def torch_activations(model: SpellerModel, rows: Sequence[Any]) -> Samples:
    """The inputs of every dense layer and of the output layer on rows of ids, as many as fill ROWS tokens."""
    lengths = np.cumsum([len(row) for row in rows])
    chosen = rows[: int(np.searchsorted(lengths, ROWS)) + 1]
    seen: dict[str, Tensor] = {}

    def keep(name: str, _: nn.Module, given: tuple[Tensor, ...]) -> None:
        seen[name] = given[0].detach().float().cpu()

    hooks = []
    for name, module in model.named_modules():
        if isinstance(module, Dense):
            hooks.append(module.register_forward_pre_hook(partial(keep, name)))
        elif isinstance(module, OutputLayer):
            hooks.append(module.register_forward_pre_hook(partial(keep, TABLE)))
    try:
        model.eval()(pack(chosen).to(next(model.parameters()).device))
    finally:
        for hook in hooks:
            hook.remove()
    return {name: tensor.numpy() for name, tensor in seen.items()}
