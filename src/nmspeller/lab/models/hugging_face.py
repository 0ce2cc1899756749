"""Hugging Face BERT folders: start from one, and write one."""

import json
from pathlib import Path

import torch
from safetensors.torch import save

from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.lab.models import names
from nmspeller.lab.models.checkpoint import read_tensors
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.text.vocabulary import Vocabulary


def read_encoder_config(folder: str | Path) -> EncoderConfig:
    """The sizes of a Hugging Face BERT; the id of [MASK] comes from its vocab.txt.

    Raises:
        InputError: config.json or vocab.txt is missing or not a BERT's.
    """
    folder = Path(folder)
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder} is not a Hugging Face BERT folder: {error}.") from None
    return names.config_from_hugging_face(config, mask_id=Vocabulary.from_file(folder / "vocab.txt").mask)


def load_backbone(model: SpellerModel, folder: str | Path) -> set[str]:
    """Load the encoder, and the head where both have one; layers that depend on them are initialised again.

    Returns the names of the loaded tensors.

    Raises:
        InputError: the folder is not a BERT of this model's sizes.
    """
    tensors = names.from_hugging_face(
        read_tensors(Path(folder) / "model.safetensors"), model.config.encoder.layers, torch.cat
    )
    own = model.state_dict()
    for name, tensor in tensors.items():
        found, expected = tuple(tensor.shape), tuple(own[name].shape) if name in own else None
        if expected is not None and found != expected:
            raise InputError(f"{folder} has {name} of shape {found}, but this model needs {expected}.")
    fitting = {name: tensor for name, tensor in tensors.items() if name in own}
    model.load_state_dict(fitting, strict=False)
    model.start_new_layers(fitting)
    return set(fitting)


def write(model: SpellerModel, folder: str | Path) -> None:
    """Write config.json and model.safetensors for transformers' BertForMaskedLM (or BertModel).

    Raises:
        InputError: the masking layer is active in prediction too, which Hugging Face's BERT cannot express.
    """
    masking = model.config.masking
    if masking is not None and masking.active == "always":
        raise InputError("a masking layer that is always active cannot be written as a plain BERT.")
    tensors = names.to_hugging_face(model.state_dict(), model.config.encoder.layers)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    head = names.HEAD["head.output.bias"] in tensors
    config = names.config_to_hugging_face(model.config.encoder, head=head)
    write_whole(folder / "config.json", (json.dumps(config, indent=1) + "\n").encode())
    contiguous = {name: tensor.detach().float().cpu().contiguous() for name, tensor in tensors.items()}
    write_whole(folder / "model.safetensors", save(contiguous, metadata={"format": "pt"}))
