"""What tells one training from another, so that none goes on from where a different one stopped."""

import hashlib
import json
from dataclasses import asdict
from typing import Any

import torch

from nmspeller.lab.configs.parsing import to_mapping
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.models.speller import SpellerModel


def identity(
    model: SpellerModel, recipe: Any, prepared: Prepared, *, seed: int, teacher: SpellerModel | None
) -> str:
    """A digest of all that the losses depend on: the weights at the start, the recipe, the data, the seed."""
    settings = [to_mapping(model.config), asdict(recipe), prepared.manifest, seed]
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for each in (model, teacher):
        for name, tensor in each.state_dict().items() if each else ():
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()
