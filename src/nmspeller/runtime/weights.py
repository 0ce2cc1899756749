"""Reading a masked language model's weights, under Hugging Face's names, without torch."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError

Weights = dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Source:
    """A BERT masked language model: its sizes, its weights, its vocabulary file."""

    layers: int
    heads: int
    positions: int
    epsilon: float
    weights: Weights
    vocabulary: Path


def read_source(folder: str | Path) -> Source:
    """Read a Hugging Face BertForMaskedLM folder."""
    from safetensors.numpy import load_file

    folder = Path(folder)
    config: dict[str, Any] = json.loads((folder / "config.json").read_text("utf-8"))
    weights = load_file(folder / "model.safetensors")
    if config["hidden_act"] != "gelu":
        raise InputError(f"{folder} uses {config['hidden_act']}, and only gelu can be exported.")
    return Source(
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        positions=config["max_position_embeddings"],
        epsilon=config["layer_norm_eps"],
        weights=weights,
        vocabulary=folder / "vocab.txt",
    )
