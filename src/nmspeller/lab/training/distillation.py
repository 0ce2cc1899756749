"""Distillation: a student learns a teacher's probabilities, and the outputs of its layers."""

import torch
from torch import Tensor
from torch.nn import functional

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import NO_TARGET, Batch, PackedBatch
from nmspeller.lab.models.bert import BertSpeller
from nmspeller.lab.models.speller import TAG_WEIGHT, SpellerModel, tag_bits, tag_loss

TEACHER_SHARE = 0.7
"""The share of the teacher in the loss; the rest is from the right characters: a teacher makes errors too."""


class Distillation:
    """The loss of a student: cross-entropy with the teacher's probabilities and with the right characters.

    Where the student has the teacher's layers, each layer's output is matched as well: a student that differs
    only in its precision then stays close to its teacher. `match_layers=False` turns that off, for a student
    that shall become another model. `where_right` asks the teacher only where its best character is the right
    one, for a student that shall learn more than it knows. Tags are learnt from the teacher where it has
    some, else from the labels.

    Raises:
        InputError: one of the two has a loss of its own, or their vocabularies differ.
    """

    def __init__(
        self,
        teacher: SpellerModel,
        student: SpellerModel,
        share: float = TEACHER_SHARE,
        *,
        match_layers: bool = True,
        where_right: bool = False,
    ) -> None:
        if any(type(model).loss is not SpellerModel.loss for model in (teacher, student)):
            raise InputError(
                "only spellers whose loss is the cross-entropy of characters can be teachers and students."
            )
        self.share = share
        self.where_right = where_right
        self.layer_by_layer = match_layers and _have_the_same_layers(teacher, student)
        self.teacher = frozen_teacher(teacher, student)

    def __call__(self, student: SpellerModel, batch: Batch | PackedBatch) -> Tensor:
        """The mean over the positions that have a target; 0 where none has."""
        assert batch.targets is not None
        with torch.no_grad():
            expected = self.teacher.outputs(batch, aligned=True)
        found = student.outputs(batch, aligned=True)
        has_target = batch.targets != NO_TARGET
        logarithms = functional.log_softmax(found.scores.float(), dim=-1)
        targets = batch.targets.clamp(min=0)
        from_labels = -logarithms.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        from_teacher = -(expected.scores.float().softmax(dim=-1) * logarithms).sum(-1)
        if self.where_right:
            from_teacher = torch.where(expected.scores.argmax(dim=-1) == targets, from_teacher, from_labels)
        losses = torch.lerp(from_labels, from_teacher, self.share) * has_target
        loss = losses.sum() / has_target.sum().clamp(min=1)
        if self.layer_by_layer:
            both = zip(found.layers, expected.layers, strict=True)
            distances = [layer_distance(*layers, has_target) for layers in both]
            loss = loss + torch.stack(distances).mean()
        if found.tags is not None and batch.tags is not None:
            tags = tag_bits(batch.tags)
            if expected.tags is not None:
                tags = torch.lerp(tags, expected.tags.float().sigmoid(), self.share)
            loss = loss + TAG_WEIGHT * tag_loss(found.tags, batch.tags, tags)
        return loss


def frozen_teacher(teacher: SpellerModel, student: SpellerModel) -> SpellerModel:
    """The teacher as it is asked: without gradients, beside the student, in half precision on a GPU.

    Raises:
        InputError: their vocabularies differ.
    """
    if teacher.config.encoder.vocabulary != student.config.encoder.vocabulary:
        raise InputError("the teacher and the student have different vocabularies; use one vocabulary.")
    device = next(student.parameters()).device
    teacher = teacher.eval().requires_grad_(False).to(device)
    return teacher.bfloat16() if device.type == "cuda" else teacher


def layer_distance(output: Tensor, expected: Tensor, counted: Tensor) -> Tensor:
    """The mean squared error between two layers' outputs, (..., hidden), per variance of each channel.

    Without the division a few channels, many times as large as the others, would make up the whole distance.
    counted: (...) bool, the positions that count.
    """
    output, expected = output.float().flatten(0, -2), expected.float().flatten(0, -2)
    # Weights, because selecting the positions would give every batch another shape.
    weights = (counted / counted.sum().clamp(min=1)).flatten().unsqueeze(-1)
    mean = (expected * weights).sum(dim=0)
    variance = ((expected - mean).square() * weights).sum(dim=0)
    error = ((output - expected).square() * weights).sum(dim=0)
    return (error / variance.clamp(min=1e-6)).mean()


def _have_the_same_layers(teacher: SpellerModel, student: SpellerModel) -> bool:
    encoders = [(model.config.encoder.layers, model.config.encoder.hidden) for model in (teacher, student)]
    return encoders[0] == encoders[1] and all(type(model) is BertSpeller for model in (teacher, student))
