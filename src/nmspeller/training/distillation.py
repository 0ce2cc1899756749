"""Learning from another speller: a small one takes over what a large one thinks of every position."""

import torch
from torch import Tensor
from torch.nn import functional

from nmspeller.errors import InputError
from nmspeller.models.batch import NO_TARGET, Batch, PackedBatch
from nmspeller.models.speller import SpellerModel, cross_entropy

# The rest is learnt from the right characters: a teacher errs too.
_TEACHERS_SHARE = 0.7


class Distillation:
    """The loss of a pupil: cross-entropy with the teacher's probabilities and with the right characters.

    Raises:
        InputError: one of the two is no plain speller, or they know different characters.
    """

    def __init__(self, teacher: SpellerModel, pupil: SpellerModel) -> None:
        if any(type(model).loss is not SpellerModel.loss for model in (teacher, pupil)):
            raise InputError("only spellers whose loss is over characters alone can teach and be taught.")
        if teacher.config.encoder.vocabulary != pupil.config.encoder.vocabulary:
            raise InputError("the teacher knows other characters than the pupil; use one vocabulary.")
        device = next(pupil.parameters()).device
        self.teacher = teacher.eval().requires_grad_(False).to(device)
        if device.type == "cuda":
            self.teacher.bfloat16()

    def __call__(self, pupil: SpellerModel, batch: Batch | PackedBatch) -> Tensor:
        """The mean over the positions that have a target; 0 where none has."""
        assert batch.targets is not None
        with torch.no_grad():
            taught = _scores(self.teacher, batch)
        scores = _scores(pupil, batch)
        there = batch.targets != NO_TARGET
        distances = -(taught.float().softmax(dim=-1) * functional.log_softmax(scores.float(), dim=-1)).sum(-1)
        from_teacher = (distances * there).sum() / there.sum().clamp(min=1)
        return torch.lerp(cross_entropy(scores, batch.targets), from_teacher, _TEACHERS_SHARE)


def _scores(model: SpellerModel, batch: Batch | PackedBatch) -> Tensor:
    """(..., vocabulary and what aligns it)"""
    return model.head(model.hidden(batch), model.output_words(), aligned=True)
