"""Learning from another speller: what the teacher thinks of every position, and how it comes to think so."""

import torch
from torch import Tensor
from torch.nn import functional

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import NO_TARGET, Batch, PackedBatch
from nmspeller.lab.models.bert import BertSpeller
from nmspeller.lab.models.speller import SpellerModel, cross_entropy

TEACHER_SHARE = 0.7
"""Of the loss; the rest is learnt from the right characters: a teacher errs too."""


class Distillation:
    """The loss of a student: cross-entropy with the teacher's probabilities and with the right characters.

    Where the student has the teacher's layers, each layer's output is matched as well: a student that only
    computes in another precision then stays the model that it was made of.

    Raises:
        InputError: one of the two is no plain speller, or they know different characters.
    """

    def __init__(self, teacher: SpellerModel, student: SpellerModel, share: float = TEACHER_SHARE) -> None:
        if any(type(model).loss is not SpellerModel.loss for model in (teacher, student)):
            raise InputError("only spellers whose loss is over characters alone can teach and be taught.")
        if teacher.config.encoder.vocabulary != student.config.encoder.vocabulary:
            raise InputError("the teacher knows other characters than the student; use one vocabulary.")
        device = next(student.parameters()).device
        self.share = share
        self.layer_by_layer = _have_the_same_layers(teacher, student)
        self.teacher = teacher.eval().requires_grad_(False).to(device)
        if device.type == "cuda":
            self.teacher.bfloat16()

    def __call__(self, student: SpellerModel, batch: Batch | PackedBatch) -> Tensor:
        """The mean over the positions that have a target; 0 where none has."""
        assert batch.targets is not None
        with torch.no_grad():
            wanted = self._layers(self.teacher, batch)
            taught = _scores(self.teacher, wanted[-1])
        said = self._layers(student, batch)
        scores = _scores(student, said[-1])
        there = batch.targets != NO_TARGET
        distances = -(taught.float().softmax(dim=-1) * functional.log_softmax(scores.float(), dim=-1)).sum(-1)
        from_teacher = (distances * there).sum() / there.sum().clamp(min=1)
        loss = torch.lerp(cross_entropy(scores, batch.targets), from_teacher, self.share)
        if self.layer_by_layer:
            apart = [unlike(*both, there) for both in zip(said, wanted, strict=True)]
            loss = loss + torch.stack(apart).mean()
        return loss

    def _layers(self, model: SpellerModel, batch: Batch | PackedBatch) -> list[Tensor]:
        """What is compared, (..., hidden) each; what the head reads is the last."""
        return model.semantic.layer_outputs(batch) if self.layer_by_layer else [model.hidden(batch)]


def unlike(said: Tensor, wanted: Tensor, there: Tensor) -> Tensor:
    """How far two layers' outputs (..., hidden) differ, as a share of each channel's own variance.

    A few channels are many times as large as the others, and would be all that counts. Only the positions
    that are `there`, (...), do.
    """
    said, wanted = said.float().flatten(0, -2), wanted.float().flatten(0, -2)
    # A share for each position, since picking those that are there would give every batch another shape.
    shares = (there / there.sum().clamp(min=1)).flatten().unsqueeze(-1)
    mean = (wanted * shares).sum(dim=0)
    variance = ((wanted - mean).square() * shares).sum(dim=0)
    error = ((said - wanted).square() * shares).sum(dim=0)
    return (error / variance.clamp(min=1e-6)).mean()


def _have_the_same_layers(teacher: SpellerModel, student: SpellerModel) -> bool:
    encoders = [(model.config.encoder.layers, model.config.encoder.hidden) for model in (teacher, student)]
    return encoders[0] == encoders[1] and all(type(model) is BertSpeller for model in (teacher, student))


def _scores(model: SpellerModel, hidden: Tensor) -> Tensor:
    """(..., vocabulary and what aligns it)"""
    scores: Tensor = model.head(hidden, model.output_words(), aligned=True)
    return scores
