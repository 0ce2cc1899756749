"""BERT and NM-BERT: the encoder's states straight to the vocabulary."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.models.config import EncoderConfig, SpellerConfig
from nmspeller.lab.models.speller import SpellerModel


@dataclass(frozen=True)
class BertConfig(SpellerConfig):
    """The default head is the pretrained one, since the backbone has it; `linear` is the paper's."""


class BertSpeller(SpellerModel):
    """Each position's last hidden state predicts its character; with `masking`, this is NM-BERT."""


def from_arrays(encoder: EncoderConfig, weights: Mapping[str, NDArray[np.float32]]) -> BertSpeller:
    """A speller of these sizes and weights, in eval mode.

    Raises:
        InputError: the weights are not of these sizes.
    """
    model = BertSpeller(
        BertConfig(encoder=encoder, head="mlm" if "head.dense.weight" in weights else "linear")
    )
    own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: array.shape for name, array in weights.items()}
    if own != found:
        name = next(name for name in [*own, *found] if own.get(name) != found.get(name))
        raise InputError(
            f"the weights have {name!r} of shape {found.get(name)}, not {own.get(name)} as in the config."
        )
    model.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return model.eval()
