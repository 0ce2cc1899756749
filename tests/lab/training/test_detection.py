"""A prefilter learns where its teacher would edit."""

import numpy as np
import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import NO_TARGET, collate, pack
from nmspeller.lab.models.registry import build, parse
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.training.detection import Detection, edit_confidence
from nmspeller.runtime.decoder import confidence

ROWS = [np.array([2, 5, 6, 7, 3]), np.array([2, 8, 9, 3])]
RIGHT = [np.array([2, 5, 6, 9, 3]), np.array([2, 8, 9, 3])]


def bert(seed, *, layers=1, vocabulary=10, tags=False):
    torch.manual_seed(seed)
    sizes = {"hidden": 16, "heads": 2, "intermediate": 32, "positions": 8, "mask_id": 4, "dropout": 0.0}
    encoder = {"vocabulary": vocabulary, "layers": layers, "attention_dropout": 0.0, **sizes}
    return build(parse({"speller": "bert", "encoder": encoder, "tags": tags}))


@torch.no_grad()
def decided_teacher():
    teacher = bert(0, layers=2)
    torch.nn.init.zeros_(teacher.head.output.bias)[6] = 5.0  # the character that it wants everywhere
    return teacher


def a_batch(kind=collate):
    return kind(ROWS, [np.where(right < 4, NO_TARGET, right) for right in RIGHT])


def test_the_source_score_is_one_of_all_scores():
    model, batch = bert(1), a_batch()
    own = model(batch).gather(-1, batch.ids.unsqueeze(-1)).squeeze(-1)
    assert torch.allclose(model.source_scores(batch), own, atol=1e-5)


def test_the_confidence_is_the_decoders():
    teacher, batch = decided_teacher(), a_batch()
    with torch.no_grad():
        found = edit_confidence(teacher, batch).numpy()
        probabilities = teacher(batch).softmax(-1).numpy()
    for row, column in np.argwhere(batch.real.numpy()):
        here, source = probabilities[row, column], int(batch.ids[row, column])
        best = np.float32(max(np.delete(here, source)))
        assert found[row, column] == pytest.approx(float(confidence(best, here[source])), abs=1e-5)


class Certain(torch.nn.Module):
    """Tags that are sure of one thing, at the second character of the first row, or score it lower."""

    def __init__(self, tag, score=20.0):
        super().__init__()
        self.tag = tag
        self.score = score

    def forward(self, layers, scores, batch):
        tags = torch.full((*batch.ids.shape, 3), -20.0)
        tags[0, 2, self.tag] = self.score
        return tags


@pytest.mark.parametrize(("tag", "places"), [(0, [[0, 2]]), (1, [[0, 1], [0, 2]]), (2, [[0, 2], [0, 3]])])
def test_a_tag_is_an_error_where_it_stands_a_gap_on_either_side_a_swap_at_both_places(tag, places):
    teacher = bert(0, tags=True)
    teacher.tags = Certain(tag)
    with torch.no_grad():
        found = edit_confidence(teacher, a_batch())
    assert np.argwhere(found.numpy() > 0.99).tolist() == places


def test_a_tag_that_is_hardly_probable_is_no_reason_to_read_a_sentence():
    teacher, batch = bert(0, tags=True), a_batch()
    found = []
    for probability in (0.0, 0.1, 0.9):
        teacher.tags = Certain(0, score=float(np.log(probability + 1e-9) - np.log(1 - probability)))
        with torch.no_grad():
            found.append(edit_confidence(teacher, batch)[0, 2].item())
    without, hardly, probable = found
    assert hardly == pytest.approx(without, abs=2e-4)
    assert probable == pytest.approx(0.9**4 / (0.9**4 + 0.1), abs=1e-4)


def test_errors_that_only_tags_tell_of_are_learnt():
    teacher, student = bert(0, tags=True), bert(1)
    tags = [np.array([0, 0, 1, 0, 0]), np.array([0, 0, 0, 0])]
    right = [np.where(row < 4, NO_TARGET, row) for row in ROWS]
    plain, told = (collate(ROWS, right, tags=given) for given in (None, tags))
    loss = Detection(teacher, student, 0.0)
    with torch.no_grad():
        own = student.source_scores(told)[0, 2].item()
        # One of the five positions is wrong: -log sigmoid(-score) instead of -log sigmoid(score).
        assert (loss(student, told) - loss(student, plain)).item() == pytest.approx(own / 5, abs=1e-4)


def test_the_student_learns_where_the_teacher_would_edit():
    teacher, student, batch = decided_teacher(), bert(1), a_batch()
    before = {name: tensor.clone() for name, tensor in teacher.state_dict().items()}
    loss, optimiser = Detection(teacher, student, 1.0), torch.optim.Adam(student.parameters(), 1e-2)
    for _ in range(200):
        optimiser.zero_grad()
        loss(student, batch).backward()
        optimiser.step()
    there = batch.targets != NO_TARGET
    with torch.no_grad():
        error_scores, expected = 1 - student.source_scores(batch).sigmoid(), edit_confidence(teacher, batch)
    assert expected[there].max() - expected[there].min() > 0.5
    assert torch.allclose(error_scores[there], expected[there], atol=0.05)
    assert all(torch.equal(tensor, before[name]) for name, tensor in teacher.state_dict().items())


def test_the_rest_of_the_loss_is_from_the_errors():
    teacher, student, batch = decided_teacher(), bert(1), a_batch()
    there, wrong = batch.targets != NO_TARGET, batch.targets != batch.ids
    kept = student.source_scores(batch).sigmoid()
    expected = -torch.where(wrong, 1 - kept, kept).log()[there].mean()
    assert torch.allclose(Detection(teacher, student, 0.0)(student, batch), expected, rtol=1e-5)


def test_padded_and_packed_batches_have_one_loss():
    teacher, student = decided_teacher(), bert(1)
    loss = Detection(teacher, student, 0.7)
    assert torch.allclose(loss(student, a_batch()), loss(student, a_batch(pack)), rtol=1e-4)


def test_only_bert_spellers_of_one_vocabulary():
    with pytest.raises(InputError, match="different vocabularies"):
        Detection(bert(0, vocabulary=11), bert(1), 1.0)
    with pytest.raises(InputError, match="BERT spellers"):
        Detection(SpellerModel(bert(0).config), bert(1), 1.0)
