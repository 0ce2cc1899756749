"""Means of weights: over several checkpoints, from one start with different seeds, and over a training."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from nmspeller.errors import InputError
from nmspeller.lab.models import checkpoint


def average(folders: Sequence[Path], out: Path) -> None:
    """Write a checkpoint whose weights are the means of those in `folders`.

    Raises:
        InputError: fewer than two folders, or checkpoints of different models.
    """
    if len(folders) < 2:
        raise InputError("give two or more checkpoints to average.")
    descriptions = [checkpoint.read_description(folder) for folder in folders]
    for folder, description in zip(folders, descriptions, strict=True):
        if description != descriptions[0]:
            raise InputError(f"{folder} is another model than {folders[0]}; average trainings of one model.")
    mean, tokens = checkpoint.load(folders[0])
    state = mean.state_dict()
    for number, folder in enumerate(folders[1:], start=2):
        for name, tensor in checkpoint.load(folder)[0].state_dict().items():
            if tensor.is_floating_point():
                state[name].lerp_(tensor, 1 / number)
            elif not torch.equal(state[name], tensor):
                raise InputError(
                    f"{folder} has another {name} than {folders[0]}; use the same prepared data for both."
                )
    names = ", ".join(folder.name for folder in folders)
    checkpoint.save(out, mean, tokens, card=f"# The mean of {len(folders)} spellers\n\n{names}\n")


def move_averages(averages: list[Tensor], model: nn.Module, decay: float, step: int) -> None:
    """Move exponential averages of the weights of a model towards those after a step, which counts from 0.

    The decay is smaller at the beginning, or the initial weights would stay in the averages.
    """
    decay = min(decay, (1 + step) / (10 + step))
    torch._foreach_lerp_(averages, [weight.detach() for weight in model.parameters()], 1 - decay)
