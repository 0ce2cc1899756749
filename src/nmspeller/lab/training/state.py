"""The state of a training on disk: written whole or not at all, and read only by the training it is of."""

import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from nmspeller.errors import InputError
from nmspeller.files import replacing

Tensors = Mapping[str, Mapping[str, Tensor]]
"""Tensors by the part of the training that they belong to, then by name."""


def write_state(path: Path, tensors: Tensors, position: Mapping[str, float], identity: str) -> None:
    """Write the tensors, and how far the training has come.

    identity: a digest of the training's settings.

    Raises:
        InputError: it cannot be written.
    """
    plain = {
        f"{part}.{name}": tensor.cpu().contiguous().clone()
        for part, named in tensors.items()
        for name, tensor in named.items()
    }
    metadata = {name: repr(value) for name, value in position.items()} | {"identity": identity}
    try:
        with replacing(path) as partial:
            save_file(plain, partial, metadata=metadata)
    except SafetensorError as error:  # disk errors come in this class
        raise InputError(f"{path} cannot be written ({error}); free some space there.") from error


def read_state(
    path: Path, device: torch.device, identity: str
) -> tuple[dict[str, dict[str, Tensor]], dict[str, float]]:
    """What `write_state` was given; parts without a tensor are there as well, and empty.

    Raises:
        InputError: the file is damaged, or of a training with other settings.
    """
    parts: dict[str, dict[str, Tensor]] = {"model": {}, "optimiser": {}, "average": {}}
    try:
        with safe_open(path, framework="pt", device=str(device)) as stored:
            position = dict(stored.metadata())
            for full_name in stored.keys():  # noqa: SIM118
                part, _, name = full_name.partition(".")
                parts[part][name] = stored.get_tensor(full_name)
    except SafetensorError as error:
        raise InputError(f"{path} is damaged ({error}); remove it to start again.") from error
    if position.pop("identity", None) != identity:
        raise InputError(
            f"{path} belongs to a training with other settings; give another folder, or remove it."
        )
    return parts, {name: float(value) for name, value in position.items()}


def keep_log(path: Path, step: int) -> None:
    """Cut a JSON-lines log back to a step: what came later will be logged again.

    The last line may be incomplete.
    """
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines()
        earlier = [line for line in lines if line.endswith("}") and json.loads(line)["step"] <= step]
        path.write_text("".join(f"{line}\n" for line in earlier), encoding="utf-8")
