"""A speller with some of its layers left out: where a smaller one starts to learn from it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nmspeller.errors import InputError
from nmspeller.models import checkpoint
from nmspeller.models.registry import build, needed_tables

_LAYERS = "semantic.layers."


def shorten(folder: Path, layers: Sequence[int], out: Path) -> None:
    """Write a checkpoint with only these layers of the one in `folder`, counted from 0, in their order.

    Raises:
        InputError: no such layers, or a speller that is more than a BERT.
    """
    model, tokens = checkpoint.load(folder)
    config = model.config
    if needed_tables(config):
        raise InputError(f"{folder} is not a BERT alone; only a BERT can be shortened.")
    if (
        not layers
        or list(layers) != sorted(set(layers))
        or not set(layers) <= set(range(config.encoder.layers))
    ):
        raise InputError(f"give layers in ascending order, from 0 to {config.encoder.layers - 1}.")
    short = build(replace(config, encoder=replace(config.encoder, layers=len(layers))))
    kept = {str(layer): str(place) for place, layer in enumerate(layers)}
    state = {}
    for name, tensor in model.state_dict().items():
        if name.startswith(_LAYERS):
            layer, _, rest = name.removeprefix(_LAYERS).partition(".")
            if layer not in kept:
                continue
            name = f"{_LAYERS}{kept[layer]}.{rest}"
        state[name] = tensor
    short.load_state_dict(state)
    numbers = ", ".join(map(str, layers))
    checkpoint.save(out, short, tokens, card=f"# Layers {numbers} of {folder.name}\n")
