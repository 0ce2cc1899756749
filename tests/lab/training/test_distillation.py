"""A student learns from a teacher."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import NO_TARGET, collate
from nmspeller.lab.models.registry import build, parse
from nmspeller.lab.training.distillation import Distillation, layer_distance
from nmspeller.lab.training.start import start_model

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"甲乙丙丁戊"]
ROWS = [np.array([2, 5, 6, 7, 3]), np.array([2, 8, 9, 3])]


def bert(seed, *, layers=1, vocabulary=len(TOKENS), speller="bert"):
    torch.manual_seed(seed)
    sizes = {"hidden": 16, "heads": 2, "intermediate": 32, "positions": 8, "mask_id": 4, "dropout": 0.0}
    encoder = {"vocabulary": vocabulary, "layers": layers, "attention_dropout": 0.0, **sizes}
    return build(parse({"speller": speller, "encoder": encoder}))


def a_batch():
    targets = [np.where((row == 2) | (row == 3), NO_TARGET, row) for row in ROWS]
    return collate(ROWS, targets)


def distance(teacher, student):
    """The mean divergence of the student's probabilities from the teacher's."""
    batch = a_batch()
    there = batch.targets != NO_TARGET
    with torch.no_grad():
        output, expected = (model(batch)[there].log_softmax(-1) for model in (student, teacher))
    return float(functional.kl_div(output, expected, log_target=True, reduction="batchmean"))


def test_the_student_learns_the_teachers_probabilities():
    teacher, student = bert(0, layers=2), bert(1)
    torch.nn.init.normal_(teacher.head.output.bias, std=3.0)  # a teacher with clear preferences
    before = {name: tensor.clone() for name, tensor in teacher.state_dict().items()}
    loss, optimiser = Distillation(teacher, student), torch.optim.Adam(student.parameters(), 1e-2)
    far = distance(teacher, student)
    for _ in range(100):
        optimiser.zero_grad()
        loss(student, a_batch()).backward()
        optimiser.step()
    # Not completely: the loss of the right characters counts as well.
    assert distance(teacher, student) < far / 2
    assert all(torch.equal(tensor, before[name]) for name, tensor in teacher.state_dict().items())


def of_characters(teacher, student):
    """The loss without that of the layers."""
    batch = a_batch()
    there = batch.targets != NO_TARGET
    output, expected = student(batch)[there].log_softmax(-1), teacher(batch)[there].softmax(-1)
    return 0.7 * -(expected * output).sum(-1).mean() + 0.3 * student.loss(batch)


def test_the_teachers_share_of_the_loss():
    teacher, student = bert(0, layers=2), bert(1)
    loss = Distillation(teacher, student)(student, a_batch())
    assert torch.allclose(loss, of_characters(teacher, student), rtol=1e-5)
    alone = Distillation(teacher, student, share=0.0)(student, a_batch())
    assert torch.allclose(alone, student.loss(a_batch()), rtol=1e-5)


def test_a_student_with_the_teachers_layers_matches_each_of_them():
    teacher, student, batch = bert(0, layers=2), bert(1, layers=2), a_batch()
    there = batch.targets != NO_TARGET
    apart = []
    for output, expected in zip(
        *(model.semantic.layer_outputs(batch) for model in (student, teacher)), strict=True
    ):
        error = (output[there] - expected[there]).square().mean(dim=0)
        apart.append((error / expected[there].var(dim=0, correction=0)).mean())
    expected = of_characters(teacher, student) + torch.stack(apart).mean()
    assert torch.allclose(Distillation(teacher, student)(student, batch), expected, rtol=1e-4)


def test_only_counted_positions_have_a_distance():
    output = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(0))
    there = torch.tensor([[True, True, False, False]] * 3)
    other = torch.where(there.unsqueeze(-1), output, 9.0)
    assert layer_distance(output, other, there) == 0
    assert layer_distance(output, other, ~there) > 1


def test_a_teacher_of_another_vocabulary_is_an_error():
    with pytest.raises(InputError, match="one vocabulary"):
        Distillation(bert(0, vocabulary=12), bert(1))


def test_a_teacher_changes_the_training(little_prepared, little_start, tmp_path):
    path = Path(__file__).with_name("little.py")
    spec = importlib.util.spec_from_file_location("little", path)
    little = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(little)
    _, alone = little.train(little_prepared, little_start, tmp_path / "alone")
    teacher = start_model({"speller": "bert"}, Path(little_start))
    _, distilled = little.train(little_prepared, little_start, tmp_path / "distilled", teacher=teacher)
    assert distilled.step == alone.step
    assert distilled.loss != alone.loss


def test_a_teacher_may_be_asked_where_it_is_right_alone():
    teacher, student, batch = bert(0, layers=2), bert(1), a_batch()
    there = batch.targets != NO_TARGET
    batch.targets[0, 1] = teacher(batch)[0, 1].argmax()  # right in one place, at least
    right = (teacher(batch).argmax(-1) == batch.targets)[there]
    assert 0 < right.sum() < len(right)
    output, expected = student(batch)[there].log_softmax(-1), teacher(batch)[there].softmax(-1)
    labels = functional.nll_loss(output, batch.targets[there], reduction="none")
    soft = torch.where(right, -(expected * output).sum(-1), labels)
    loss = Distillation(teacher, student, match_layers=False, where_right=True)(student, batch)
    assert torch.allclose(loss, (0.7 * soft + 0.3 * labels).mean(), rtol=1e-5)
