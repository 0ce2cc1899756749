"""The three gates, each against its equation."""

import pytest
import torch

from nmspeller.lab.models.batch import collate, pack
from nmspeller.lab.models.fusion import AdaptiveGate, DotProductGate, SelectiveGate, sentence_mean


@pytest.fixture
def kinds():
    return torch.randn(4, 2, 5, 8).unbind()


def test_selective_gating_follows_its_equation(kinds):
    semantic, phonetic, graphic, _ = kinds
    gate = SelectiveGate(8)
    weights, bias = gate.gates.weight, gate.gates.bias
    values = torch.sigmoid(torch.cat(kinds, dim=-1) @ weights.T + bias)
    expected = sum(values[..., i, None] * kind for i, kind in enumerate((semantic, phonetic, graphic)))
    torch.testing.assert_close(gate(*kinds), expected)


def test_adaptive_gating_follows_its_equation(kinds):
    semantic, phonetic, graphic, _ = kinds
    gate = AdaptiveGate(8, 0.8, 0.2)
    sound = torch.relu(gate.phonetic_gate(torch.cat([semantic, phonetic], -1))) * phonetic
    shape = torch.relu(gate.graphic_gate(torch.cat([semantic, graphic], -1))) * graphic
    torch.testing.assert_close(gate(*kinds), semantic + 0.8 * sound + 0.2 * shape)


def test_dot_product_gating_follows_the_equations_and_has_no_parameters(kinds):
    semantic, phonetic, graphic, mean = kinds
    gate = DotProductGate()
    expected = semantic.clone()
    for kind in (phonetic, graphic):
        scores = (torch.cat([semantic, mean], -1) * torch.cat([kind, kind], -1)).sum(-1, keepdim=True)
        expected = expected + torch.sigmoid(scores) * kind
    torch.testing.assert_close(gate(*kinds), expected)
    assert not list(gate.parameters())
    assert not list(gate.buffers())


def test_the_mean_is_over_real_positions(rows):
    batch, packed = collate(rows, pad_multiple=20), pack(rows)
    hidden = torch.randn(*batch.ids.shape, 8)
    mean = sentence_mean(hidden, batch)
    for row, ids in enumerate(rows):
        torch.testing.assert_close(mean[row, 0], hidden[row, : len(ids)].mean(dim=0))
    torch.testing.assert_close(sentence_mean(hidden[batch.real], packed), mean[batch.real])


def test_only_the_gates_differ(make):
    def rest(name):
        return {
            key: value.shape for key, value in make(name).state_dict().items() if not key.startswith("gate.")
        }

    assert rest("realise") == rest("phmospell") == rest("dgspeller")
