"""The loss of a prefilter: where a teacher would change a character, and no longer to which one."""

import torch
from torch import Tensor
from torch.nn import functional

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import NO_TARGET, Batch, PackedBatch
from nmspeller.lab.models.bert import BertSpeller
from nmspeller.lab.models.speller import SpellerModel, tag_bits
from nmspeller.lab.training.distillation import frozen_teacher


class Detection:
    """Binary cross-entropy of the student's error scores with the teacher's confidence that it would edit.

    The error score of a character is 1 - sigmoid(source score). All other characters of the vocabulary are
    left out: a prefilter without them costs half as much, and learns nothing but what it is asked.

    Raises:
        InputError: one of the two is not a BERT speller, or their vocabularies differ.
    """

    def __init__(self, teacher: SpellerModel, student: SpellerModel, share: float) -> None:
        if any(type(model) is not BertSpeller for model in (teacher, student)):
            raise InputError("only BERT spellers can be the teacher of a prefilter and the prefilter.")
        self.share = share
        self.teacher = frozen_teacher(teacher, student)

    def __call__(self, student: SpellerModel, batch: Batch | PackedBatch) -> Tensor:
        """The mean over the positions that have a target; 0 where none has."""
        assert batch.targets is not None
        with torch.no_grad():
            expected = edit_confidence(self.teacher, batch)
            wrong = (batch.targets != batch.ids).float()
            if batch.tags is not None:
                wrong = torch.maximum(wrong, _beside(tag_bits(batch.tags)))
            expected = torch.lerp(wrong, expected, self.share)
        has_target = batch.targets != NO_TARGET
        scores = student.source_scores(batch).float()
        losses = functional.binary_cross_entropy_with_logits(-scores, expected, reduction="none")
        return (losses * has_target).sum() / has_target.sum().clamp(min=1)


def edit_confidence(model: SpellerModel, batch: Batch | PackedBatch) -> Tensor:
    """How confident the model is that something is wrong at each position.

    That it must be replaced by the best other character, is extra, is swapped with a neighbour, or stands
    beside a gap.
    """
    found = model.outputs(batch, aligned=True)
    probabilities = found.scores.float().softmax(dim=-1)
    at_source = batch.ids.unsqueeze(-1)
    source = probabilities.gather(-1, at_source).squeeze(-1)
    confidence = _against(probabilities.scatter(-1, at_source, 0.0).amax(dim=-1), source)
    if found.tags is not None:
        tagged = _beside(found.tags.float().sigmoid())
        confidence = torch.maximum(confidence, _against(tagged, 1 - tagged))
    return confidence


def _against(change: Tensor, source: Tensor) -> Tensor:
    """The confidence of a change from its probability and that of the source; see `decoder.confidence`.

    Tags need it as well: some are slightly probable in nearly every sentence, and a student that learnt these
    probabilities as they are would rank right sentences by nothing else.
    """
    confidence: Tensor = change**4 / (change**4 + source).clamp(min=1e-12)
    return confidence


def _beside(tags: Tensor) -> Tensor:
    """Tags (..., tokens, 3) as one probability of each token: a gap belongs to the tokens on either side."""
    extra, missing, swapped = tags.unbind(dim=-1)
    both = (missing, missing.roll(-1, dims=-1), swapped, swapped.roll(1, dims=-1))
    return torch.stack((extra, *both)).amax(dim=0)
