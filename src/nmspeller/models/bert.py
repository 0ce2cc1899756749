"""BERT and NM-BERT: the encoder's states straight to the vocabulary."""

from dataclasses import dataclass

from nmspeller.models.config import SpellerConfig
from nmspeller.models.speller import SpellerModel


@dataclass(frozen=True)
class BertConfig(SpellerConfig):
    """The default head is the pretrained one, since the backbone has it; `linear` is the paper's."""


class BertSpeller(SpellerModel):
    """Each position's last hidden state predicts its character; with `masking`, this is NM-BERT."""
