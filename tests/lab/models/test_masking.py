"""The n-gram masking layer does exactly what the paper describes."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.models import hugging_face
from nmspeller.lab.models.attention import attention
from nmspeller.lab.models.batch import Batch, collate
from nmspeller.lab.models.config import NGRAMS, MaskingConfig
from nmspeller.lab.models.encoder import Layer
from nmspeller.lab.models.masking import visible_positions

NGRAM_NAMES = list(NGRAMS)


def hidden_from(i: int, ngram: str, last: int) -> set[int]:
    """Equation 13 and the footnote, position by position; [CLS] is 0 and [SEP] is `last`."""
    indices = {
        "unigram": [i],
        "left-bigram": [i - 1, i],
        "right-bigram": [i, i + 1],
        "trigram": [i - 1, i, i + 1],
    }
    left_stays = i in (0, 1)  # [CLS] and the first character
    right_stays = i in (last - 1, last)  # the last character and [SEP]
    return {j for j in indices[ngram] if not (j == i - 1 and left_stays) and not (j == i + 1 and right_stays)}


@pytest.mark.parametrize("ngram", NGRAM_NAMES)
def test_the_masked_positions_are_the_papers(ngram, rows):
    batch = collate(rows, pad_multiple=16)
    visible = visible_positions(NGRAMS[ngram], batch.real)
    for row, ids in zip(visible, rows, strict=True):
        for i in range(len(ids)):
            expected = set(range(len(ids))) - hidden_from(i, ngram, last=len(ids) - 1)
            assert set(row[i].nonzero().flatten().tolist()) == expected


def test_every_position_sees_another_even_in_the_shortest_sentences():
    for size in (2, 3, 4):
        real = torch.zeros(1, 8, dtype=torch.bool)
        real[0, :size] = True
        assert visible_positions((-3, -2, -1, 0, 1, 2, 3), real).any(dim=-1).all()


def test_other_offsets_never_mask_cls_and_sep():
    visible = visible_positions((-2, 2), torch.ones(1, 6, dtype=torch.bool))[0]
    assert (~visible).nonzero().tolist() == [[0, 2], [1, 3], [2, 4], [3, 1], [4, 2], [5, 3]]


@pytest.mark.parametrize("ngram", NGRAM_NAMES)
def test_attention_is_exactly_zero_at_masked_positions(ngram, rows):
    """With the identity for values, attention's output is its weights."""
    batch = collate(rows, pad_multiple=16)
    count, width = batch.ids.shape
    q, k = torch.randn(2, count, width, width)
    v = torch.eye(width).expand(count, -1, -1)
    visible = visible_positions(NGRAMS[ngram], batch.real)
    weights = attention(q, k, v, batch, heads=1, mask=visible)
    assert (weights[~visible] == 0).all()
    assert (weights[visible] > 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(count, width))


def parts(make, rows, ngram="trigram"):
    """(masking layer, batch, E_out, E_query) of a tiny NM-BERT without dropout."""
    model = make("bert", ngram=ngram, encoder={"dropout": 0.0, "attention_dropout": 0.0})
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
    batch = collate(rows)
    embeddings = model.semantic.embeddings
    return model.semantic.masking, batch, embeddings(batch).detach(), embeddings.of_mask(batch).detach()


@pytest.mark.parametrize("ngram", NGRAM_NAMES)
def test_equals_the_equations(make, rows, ngram):
    """Equations 4 to 13 written out, with −10000 added to the scores."""
    masking, batch, embedded, _ = parts(make, rows, ngram)
    query = torch.randn_like(embedded)
    answer = masking(embedded, batch, GivenQuery(query))

    size, heads = embedded.shape[-1], masking.attention.heads
    w_q, w_k, w_v = masking.attention.qkv.weight.split(size)
    b_q, b_k, b_v = masking.attention.qkv.bias.split(size)
    for row, ids in enumerate(rows):
        length = len(ids)
        e_out, e_query = embedded[row, :length], query[row, :length]
        q, k, v = e_query @ w_q.T + b_q, e_out @ w_k.T + b_k, e_out @ w_v.T + b_v
        penalty = torch.zeros(length, length)
        for i in range(length):
            penalty[i, list(hidden_from(i, ngram, length - 1))] = -10000.0
        found = []
        for head in torch.arange(size).view(heads, -1):
            scores = q[:, head] @ k[:, head].T / math.sqrt(len(head)) + penalty
            found.append(scores.softmax(-1) @ v[:, head])
        hidden = masking.attention_norm(e_out + masking.attention.out(torch.cat(found, dim=-1)))
        inner = torch.nn.functional.gelu(masking.feed_forward.up(hidden))
        hidden = masking.output_norm(hidden + masking.feed_forward.down(inner))
        torch.testing.assert_close(answer[row, :length], hidden, atol=1e-5, rtol=1e-5)


class GivenQuery:
    """Embeddings whose [MASK] embedding is given."""

    def __init__(self, query):
        self.query = query

    def of_mask(self, batch):
        return self.query


def test_with_an_empty_mask_and_its_own_query_it_is_an_ordinary_layer(make, rows, encoder):
    masking, batch, embedded, _ = parts(make, rows)
    masking.config = SimpleNamespace(masked_offsets=(), active="always")
    ordinary = Layer(replace(encoder, dropout=0.0, attention_dropout=0.0))
    ordinary.load_state_dict(masking.state_dict())
    masked = masking(embedded, batch, GivenQuery(embedded.clone()))  # a clone, so that Q is made apart
    torch.testing.assert_close(masked, ordinary(embedded, batch), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("ngram", NGRAM_NAMES)
def test_the_jacobian_is_zero_at_masked_positions(make, rows, ngram):
    """∂ attention output at i / ∂ embedding of j = 0 exactly where j is hidden from i, and nowhere else."""
    masking, batch, embedded, query = parts(make, rows[1:2], ngram)
    visible = visible_positions(NGRAMS[ngram], batch.real)

    def attended(inputs):
        return masking.attention.attend(query, inputs, visible, batch)[0]

    jacobian = torch.autograd.functional.jacobian(attended, embedded)[:, :, 0]  # (i, out, j, in)
    reached = jacobian.abs().amax(dim=(1, 3)) > 0
    assert torch.equal(reached, visible[0])


def test_the_residual_is_the_embedding_so_the_character_still_leaks(make, rows):
    """The paper's first limitation: Add & Norm adds E_out, so the whole layer's output at i depends on i."""
    masking, batch, embedded, query = parts(make, rows[1:2])

    def layer(inputs):
        return masking(inputs, batch, GivenQuery(query))[0]

    jacobian = torch.autograd.functional.jacobian(layer, embedded)[:, :, 0].abs().amax(dim=(1, 3))
    inner = range(2, 9)
    assert all(jacobian[i, i] > 0 for i in inner)
    assert all(jacobian[i, i - 1] == 0 and jacobian[i, i + 1] == 0 for i in inner)
    with torch.no_grad():  # nothing attended, nothing fed forward: what is left is the norm of E_out
        for linear in (masking.attention.out, masking.feed_forward.down):
            linear.weight.zero_()
            linear.bias.zero_()
    plain = masking.output_norm(masking.attention_norm(embedded))[0]
    torch.testing.assert_close(layer(embedded), plain)


def test_the_query_is_the_normed_mask_embedding(make, rows):
    model = make("bert", ngram="trigram", encoder={"dropout": 0.0})
    embeddings = model.semantic.embeddings
    batch = collate(rows)
    all_masked = Batch(torch.full_like(batch.ids, 4), batch.mask)
    torch.testing.assert_close(embeddings.of_mask(batch), embeddings(all_masked))


def test_the_query_has_dropout(make, rows):
    embeddings = make("bert", encoder={"dropout": 0.5}).train().semantic.embeddings
    query = embeddings.of_mask(collate(rows))
    assert 0.3 < (query == 0).float().mean() < 0.7
    assert not torch.equal(query[0] == 0, query[1] == 0)


def test_active_in_training_only_is_skipped_in_prediction(make, rows):
    batch = collate(rows)
    masked = make(
        "bert", ngram="trigram", active="training", encoder={"dropout": 0.0, "attention_dropout": 0.0}
    )
    plain = make("bert", encoder={"dropout": 0.0, "attention_dropout": 0.0})
    plain.load_state_dict(masked.state_dict(), strict=False)
    assert torch.equal(masked.eval()(batch), plain.eval()(batch))
    assert not torch.allclose(masked.train()(batch), plain.train()(batch), atol=1e-4)


def test_the_layer_starts_from_layer_0_or_at_random(make, tmp_path):
    source = make("bert")
    hugging_face.write(source, tmp_path)
    for init, same in (("from_layer0", True), ("random", False)):
        model = make("bert", masking={"ngram": "unigram", "init": init})
        hugging_face.load_backbone(model, tmp_path)
        weights = model.semantic.masking.attention.qkv.weight
        assert torch.equal(weights, source.semantic.layers[0].attention.qkv.weight) is same
        assert weights is not model.semantic.layers[0].attention.qkv.weight


def test_names_and_offsets_mean_the_same():
    assert MaskingConfig(offsets=(1, 0, -1)).masked_offsets == MaskingConfig(ngram="trigram").masked_offsets
    for wrong in ({"ngram": "4-gram"}, {"active": "sometimes"}, {"init": "zeros"}):
        with pytest.raises(InputError):
            MaskingConfig(**wrong)


def test_padding_does_not_change_which_character_is_the_last(make):
    """A row's [SEP] is never masked, wherever its padding begins."""
    row = np.array([2, 10, 11, 12, 3])
    model = make("bert", ngram="right-bigram").eval()
    alone = model(collate([row], pad_multiple=1))[0]
    padded = model(collate([row], pad_multiple=24))[0, :5]
    torch.testing.assert_close(alone, padded, atol=1e-6, rtol=1e-5)
