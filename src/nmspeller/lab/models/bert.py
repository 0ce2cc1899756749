"""BERT and NM-BERT: the encoder's hidden states straight to the vocabulary."""

from nmspeller.lab.models.speller import SpellerModel


class BertSpeller(SpellerModel):
    """Each position's last hidden state predicts its character; with `masking`, this is NM-BERT.

    The default head is the pretrained one, since the backbone has it; `linear` is the paper's.
    """
