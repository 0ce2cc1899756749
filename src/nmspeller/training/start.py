"""Where a model starts: a Hugging Face BERT folder, a checkpoint of ours, or nothing but its sizes."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from nmspeller.errors import InputError
from nmspeller.models import checkpoint
from nmspeller.models.config import EncoderConfig, from_mapping
from nmspeller.models.registry import build, needed_tables, parse
from nmspeller.models.speller import SpellerModel, read_encoder_config
from nmspeller.models.tables import CharacterTables


def start_model(
    description: Mapping[str, Any],
    start: Path | None,
    *,
    tables: Path | None = None,
    modalities: Path | None = None,
    dropout: float | None = None,
    seed: int = 0,
) -> SpellerModel:
    """A model of this description, with the weights of `start` wherever names and shapes agree.

    start: a Hugging Face BERT folder, or a checkpoint of ours (whose encoder is taken); None = random
    weights.
    tables: the character tables, for models that need them.
    modalities: a checkpoint with pretrained phonetic and graphic encoders, for models that have these.
    dropout: replaces the config's own.
    seed: of the weights that start has no values for.
    """
    torch.manual_seed(seed)
    encoder = _encoder_of(start) if start else None
    config = parse(description, encoder)
    if dropout is not None:
        config = replace(config, encoder=replace(config.encoder, dropout=dropout, attention_dropout=dropout))
    if needed_tables(config) and tables is None:
        raise InputError(
            f"{description['speller']} needs character tables; give a prepared folder that has them."
        )
    model = build(config, CharacterTables.load(tables) if needed_tables(config) and tables else None)
    if start and _is_checkpoint(start):
        take_weights(model, checkpoint.load(start)[0])
    elif start:
        model.load_backbone(start)
    if modalities and hasattr(model, "phonetic"):
        take_weights(model, checkpoint.load(modalities)[0], only=("phonetic.", "graphic."))
    return model


def take_weights(model: SpellerModel, other: SpellerModel, only: tuple[str, ...] = ("",)) -> None:
    """Copy each tensor of `other` that `model` has a place for; a new masking layer starts as the encoder."""
    own = model.state_dict()
    fitting = {
        name: tensor
        for name, tensor in other.state_dict().items()
        if name.startswith(only) and name in own and own[name].shape == tensor.shape
    }
    model.load_state_dict(fitting, strict=False)
    if not any(name.startswith("semantic.masking") for name in fitting):
        model.semantic.start_masking()


def _is_checkpoint(folder: Path) -> bool:
    return (folder / "config.yaml").is_file()


def _encoder_of(folder: Path) -> EncoderConfig:
    if _is_checkpoint(folder):
        return from_mapping(EncoderConfig, checkpoint.read_description(folder)[0]["encoder"], "encoder")
    return read_encoder_config(folder)
