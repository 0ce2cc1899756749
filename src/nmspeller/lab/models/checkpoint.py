"""A checkpoint is a folder: model.safetensors, config.yaml, vocab.txt, card.md. Never a pickle.

config.yaml is written as JSON, which is YAML too, so that it is read without a YAML library. Importing this
module needs no torch: exporters call `read_description` and read the tensors with safetensors' numpy side.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.lab.configs.parsing import to_mapping
from nmspeller.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

    from nmspeller.lab.models.speller import SpellerModel

FORMAT = "nmspeller checkpoint 2"
FILES = ("model.safetensors", "config.yaml", "vocab.txt", "card.md")
TABLES = "tables."
"""The prefix of tensors that are not learned: the character tables."""


def save(folder: str | Path, model: "SpellerModel", tokens: Sequence[str], card: str = "") -> None:
    """Write the four files, each completely or not at all; the weights come last."""
    from safetensors.torch import save as to_bytes

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if len(tokens) != model.config.encoder.vocabulary:
        raise InputError(f"{len(tokens)} tokens do not fit a model of {model.config.encoder.vocabulary}.")
    described = to_mapping(model.config)
    description = {"format": FORMAT, "model": described}
    text = json.dumps(description, indent=1, ensure_ascii=False)
    text = re.sub(r"(?<= )(\d+)e-", r"\1.0e-", text)  # YAML reads 1e-12 as a string
    write_whole(folder / "config.yaml", (text + "\n").encode())
    write_whole(folder / "vocab.txt", ("\n".join(tokens) + "\n").encode())
    write_whole(folder / "card.md", (card or f"# A {described['speller']} speller\n").encode())
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    write_whole(folder / "model.safetensors", to_bytes(tensors, metadata={"format": "pt"}))


def load(folder: str | Path) -> tuple["SpellerModel", tuple[str, ...]]:
    """The model, in eval mode on the CPU, and its vocabulary.

    Raises:
        InputError: the folder is damaged or is not a checkpoint.
    """
    from nmspeller.lab.models.registry import build, parse
    from nmspeller.lab.models.tables import CharacterTables

    folder = Path(folder)
    description, tokens = read_description(folder)
    config = parse(description)
    if len(tokens) != config.encoder.vocabulary:
        raise InputError(
            f"{folder}/vocab.txt has {len(tokens)} tokens, but config.yaml has {config.encoder.vocabulary}."
        )
    tensors = read_tensors(folder / "model.safetensors")
    tables = {
        name.removeprefix(TABLES): tensor.numpy()
        for name, tensor in tensors.items()
        if name.startswith(TABLES)
    }
    model = build(config, CharacterTables.from_arrays(**tables))
    own = model.state_dict()
    for name in [*own, *tensors]:
        if name not in tensors:
            raise InputError(f"{folder}/model.safetensors has no {name!r}, which config.yaml requires.")
        if name not in own:
            raise InputError(
                f"{folder}/model.safetensors has {name!r}, which is not in the model of config.yaml."
            )
        found, expected = tuple(tensors[name].shape), tuple(own[name].shape)
        if found != expected:
            raise InputError(f"{folder}/model.safetensors has {name!r} of shape {found}, not {expected}.")
    model.load_state_dict(tensors)
    return model.eval(), tokens


def read_description(folder: str | Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """config.yaml's `model` part as plain values, and the tokens of vocab.txt; needs no torch.

    Raises:
        InputError: the folder is not a checkpoint.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; a checkpoint is a folder with {', '.join(FILES)}.")
    for name in FILES[:3]:
        if not (folder / name).is_file():
            raise InputError(f"{folder} has no {name}; a checkpoint is a folder with {', '.join(FILES)}.")
    try:
        description = json.loads((folder / "config.yaml").read_text(encoding="utf-8"))
    except ValueError as error:  # undecodable bytes, or broken JSON
        raise InputError(f"{folder} is damaged: {error}; copy it again.") from None
    known = isinstance(description, dict) and description.get("format") == FORMAT
    if not known or "model" not in description:
        raise InputError(f"{folder}/config.yaml is not of the format {FORMAT!r}; another program wrote it.")
    return description["model"], Vocabulary.from_file(folder / "vocab.txt").tokens


def read_tensors(path: Path) -> dict[str, "Tensor"]:
    """The tensors of one safetensors file; a pickle (pytorch_model.bin) is never opened.

    Raises:
        InputError: the file is missing or damaged.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if not path.is_file():
        if path.with_name("pytorch_model.bin").is_file():
            raise InputError(
                f"{path.parent} has only a pickle; load and save it with transformers to convert it."
            )
        raise InputError(f"{path} does not exist; weights are read from safetensors only.")
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path} is damaged ({error}); copy it again.") from None
