"""The weights that training starts from: a Hugging Face BERT folder, a checkpoint, or random ones."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from nmspeller.errors import InputError
from nmspeller.lab.configs.parsing import from_mapping
from nmspeller.lab.data.prepared import check_vocabulary
from nmspeller.lab.models import checkpoint, hugging_face
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.lab.models.fusion import MultiModalSpeller
from nmspeller.lab.models.registry import build, needed_tables, parse
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.models.tables import CharacterTables
from nmspeller.text.vocabulary import Vocabulary

MODALITIES = ("phonetic.", "graphic.")
"""The encoders that can be pretrained apart from the speller."""


def start_model(
    description: Mapping[str, Any],
    start: Path | None,
    *,
    vocabulary: Vocabulary | None = None,
    tables: Path | None = None,
    modalities: Path | None = None,
    dropout: float | None = None,
    seed: int = 0,
) -> SpellerModel:
    """A model of this description, with the weights of `start` wherever names agree.

    start: a Hugging Face BERT folder, or a checkpoint of ours (whose encoder is taken); None = random
    weights.
    vocabulary: the data's; every folder must have the same one.
    tables: the character tables, for models that need them.
    modalities: a checkpoint with pretrained phonetic and graphic encoders, for models that have these.
    dropout: replaces the config's own.
    seed: of the weights that are not in `start`.

    Parameters that are in neither folder are the model's `new_parameters`.

    Raises:
        InputError: a folder cannot be read, or does not fit the description or the vocabulary.
    """
    torch.manual_seed(seed)
    encoder = _encoder_of(start) if start else None
    if encoder is None and vocabulary:
        encoder = EncoderConfig(vocabulary=len(vocabulary), mask_id=vocabulary.mask)
    for folder in (start, modalities):
        if folder and vocabulary:
            check_vocabulary(folder, vocabulary)
    config = parse(description, encoder)
    own = config.encoder
    if vocabulary and (own.vocabulary, own.mask_id) != (len(vocabulary), vocabulary.mask):
        raise InputError(
            f"the model has {own.vocabulary} tokens, with [MASK] at {own.mask_id}, unlike the data; "
            f"give --start, or `vocabulary: {len(vocabulary)}, mask_id: {vocabulary.mask}` in model.encoder."
        )
    if dropout is not None:
        config = replace(config, encoder=replace(config.encoder, dropout=dropout, attention_dropout=dropout))
    if needed_tables(config) and tables is None:
        raise InputError(
            f"{description['speller']} needs character tables; give a prepared folder that has them."
        )
    model = build(config, CharacterTables.load(tables) if needed_tables(config) and tables else None)
    loaded: set[str] = set()
    if start:
        load = take_weights if _is_checkpoint(start) else hugging_face.load_backbone
        loaded = load(model, start)
    if isinstance(model, MultiModalSpeller):
        trained = any(name.startswith(MODALITIES) for name in loaded)
        if modalities:
            loaded |= take_weights(model, modalities, only=MODALITIES)
        if modalities or not trained:
            model.scale_modalities()
    if start:
        model.new_parameters = {name for name, _ in model.named_parameters() if name not in loaded}
    return model


def load_teacher(folder: Path, vocabulary: Vocabulary) -> SpellerModel:
    """A checkpoint to distil from.

    Raises:
        InputError: it cannot be read, or has another vocabulary than the data.
    """
    teacher, _ = checkpoint.load(folder)
    check_vocabulary(folder, vocabulary)
    return teacher


def check_positions(model: SpellerModel, longest: int) -> None:
    """Check that a model has enough positions for rows of so many tokens.

    Raises:
        InputError: it has not.
    """
    positions = model.config.encoder.positions
    if positions < longest:
        raise InputError(f"the model has {positions} positions, but rows have up to {longest} tokens.")


def take_weights(model: SpellerModel, folder: Path, only: tuple[str, ...] = ("",)) -> set[str]:
    """Copy each tensor of a checkpoint that `model` has too.

    Layers whose start depends on the encoder and that are not in the checkpoint are initialised again.
    Returns the names of the copied tensors.

    Raises:
        InputError: there is no such tensor, or one has another shape.
    """
    own, others = model.state_dict(), checkpoint.load(folder)[0].state_dict()
    fitting = {name: tensor for name, tensor in others.items() if name.startswith(only) and name in own}
    if not fitting:
        parts = " or ".join(name.rstrip(".") for name in only)
        raise InputError(f"{folder} has no {parts} weights for this model; give another checkpoint.")
    for name, tensor in fitting.items():
        found, expected = tuple(tensor.shape), tuple(own[name].shape)
        if found != expected:
            raise InputError(f"{folder} has {name} of shape {found}, but this model needs {expected}.")
    model.load_state_dict(fitting, strict=False)
    if any(name.startswith("semantic.") for name in fitting):
        model.start_new_layers(fitting)
    return set(fitting)


def _is_checkpoint(folder: Path) -> bool:
    return (folder / "config.yaml").is_file()


def _encoder_of(folder: Path) -> EncoderConfig:
    if _is_checkpoint(folder):
        return from_mapping(EncoderConfig, checkpoint.read_description(folder)[0]["encoder"], "encoder")
    return hugging_face.read_encoder_config(folder)
