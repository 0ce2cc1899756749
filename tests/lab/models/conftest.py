"""Tiny models and sentences of synthetic ids: [PAD] [UNK] [CLS] [SEP] [MASK] are 0 to 4."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from nmspeller.lab.configs.parsing import to_mapping
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.lab.models.registry import build, parse
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.models.tables import CharacterTables

VOCABULARY = 60
SMALL: dict[str, dict[str, Any]] = {
    "dcn": {"candidates": 8, "syllables": 64},
    "phmospell": {"graphic_channels": [4, 4, 8, 8], "phonetic_layers": 1, "fusion_layers": 1},
    "realise": {"graphic_channels": [4, 4, 8, 8], "phonetic_layers": 1, "fusion_layers": 1},
    "dgspeller": {"graphic_channels": [4, 4, 8, 8], "phonetic_layers": 1, "fusion_layers": 1},
}


@pytest.fixture(autouse=True)
def _same_every_time() -> None:
    torch.manual_seed(0)


@pytest.fixture
def encoder() -> EncoderConfig:
    return EncoderConfig(
        vocabulary=VOCABULARY, hidden=32, layers=2, heads=4, intermediate=64, positions=48, mask_id=4
    )


@pytest.fixture
def make(encoder: EncoderConfig) -> Callable[..., SpellerModel]:
    """make("realise", ngram="trigram", active="always", encoder={"dropout": 0.0}): a tiny speller."""

    def made(speller: str, ngram: str | None = None, active: str = "always", **changes: Any) -> SpellerModel:
        sizes = {**to_mapping(encoder), **changes.pop("encoder", {})}
        masking = {"ngram": ngram, "active": active} if ngram else None
        values = {
            "speller": speller,
            "encoder": sizes,
            "masking": masking,
            **SMALL.get(speller, {}),
            **changes,
        }
        return build(parse(values), CharacterTables.random(sizes["vocabulary"]))

    return made


@pytest.fixture
def rows() -> list[np.ndarray]:
    """Sentences of many lengths, with and without neighbours."""
    draw = np.random.default_rng(0)
    return [np.concatenate([[2], draw.integers(5, VOCABULARY, size), [3]]) for size in (3, 9, 1, 6, 14)]
