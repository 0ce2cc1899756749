"""The n-gram masking layer does exactly what the paper says."""

import math

import numpy as np
import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import Batch, collate
from nmspeller.lab.models.config import NGRAMS, MaskingConfig
from nmspeller.lab.models.encoder import attention
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
def test_hides_what_the_paper_hides(ngram, rows):
    batch = collate(rows, pad_multiple=16)
    visible = visible_positions(NGRAMS[ngram], batch.real)
    for row, ids in zip(visible, rows, strict=True):
        for i in range(len(ids)):
            expected = set(range(len(ids))) - hidden_from(i, ngram, last=len(ids) - 1)
            assert set(row[i].nonzero().flatten().tolist()) == expected


def test_every_position_sees_something_even_in_the_shortest_sentences():
    for size in (2, 3, 4):
        real = torch.zeros(1, 8, dtype=torch.bool)
        real[0, :size] = True
        assert visible_positions((-3, -2, -1, 0, 1, 2, 3), real).any(dim=-1).all()


def test_other_offsets_spare_the_ends():
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
    weights = attention(q, k, v, batch, heads=1, visible=visible)
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
    model_embeddings = type("Given", (), {"of_mask": lambda self, batch: query})()
    layer = masking.layer
    query = torch.randn_like(embedded)
    answer = masking(embedded, batch, model_embeddings)

    size, heads = embedded.shape[-1], layer.heads
    w_q, w_k, w_v = layer.qkv.weight.split(size)
    b_q, b_k, b_v = layer.qkv.bias.split(size)
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
        hidden = layer.attention_norm(e_out + layer.out(torch.cat(found, dim=-1)))
        hidden = layer.output_norm(hidden + layer.down(torch.nn.functional.gelu(layer.up(hidden))))
        torch.testing.assert_close(answer[row, :length], hidden, atol=1e-5, rtol=1e-5)


def test_with_an_empty_mask_and_its_own_query_it_is_an_ordinary_layer(make, rows):
    masking, batch, embedded, _ = parts(make, rows)
    nothing_hidden = visible_positions((), batch.real)
    as_masking = masking.layer(embedded, batch, query=embedded, visible=nothing_hidden)
    torch.testing.assert_close(as_masking, masking.layer(embedded, batch), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("ngram", NGRAM_NAMES)
def test_the_jacobian_is_zero_at_masked_positions(make, rows, ngram):
    """∂ attention output at i / ∂ embedding of j = 0 exactly where j is hidden from i, and nowhere else."""
    masking, batch, embedded, query = parts(make, rows[1:2], ngram)
    visible = visible_positions(NGRAMS[ngram], batch.real)

    def attended(inputs):
        return masking.layer.attend(inputs, batch, query, visible)[0]

    jacobian = torch.autograd.functional.jacobian(attended, embedded)[:, :, 0]  # (i, out, j, in)
    reached = jacobian.abs().amax(dim=(1, 3)) > 0
    assert torch.equal(reached, visible[0])


def test_the_residual_is_the_embedding_so_the_character_still_leaks(make, rows):
    """The paper's first limitation: Add & Norm adds E_out, so the whole layer's output at i depends on i."""
    masking, batch, embedded, query = parts(make, rows[1:2])
    visible = visible_positions(NGRAMS["trigram"], batch.real)

    def layer(inputs):
        return masking.layer(inputs, batch, query=query, visible=visible)[0]

    jacobian = torch.autograd.functional.jacobian(layer, embedded)[:, :, 0].abs().amax(dim=(1, 3))
    inner = range(2, 9)
    assert all(jacobian[i, i] > 0 for i in inner)
    assert all(jacobian[i, i - 1] == 0 and jacobian[i, i + 1] == 0 for i in inner)
    with torch.no_grad():  # nothing attended, nothing fed forward: what is left is the norm of E_out
        for linear in (masking.layer.out, masking.layer.down):
            linear.weight.zero_()
            linear.bias.zero_()
    plain = masking.layer.output_norm(masking.layer.attention_norm(embedded))[0]
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


def test_starts_from_layer_0_or_at_random(make, tmp_path):
    source = make("bert")
    source.write_hugging_face(tmp_path)
    for init, same in (("from_layer0", True), ("random", False)):
        model = make("bert", masking={"ngram": "unigram", "init": init})
        model.load_backbone(tmp_path)
        weights = model.semantic.masking.layer.qkv.weight
        assert torch.equal(weights, source.semantic.layers[0].qkv.weight) is same
        assert weights is not model.semantic.layers[0].qkv.weight


def test_names_and_offsets_mean_the_same():
    assert MaskingConfig(offsets=(1, 0, -1)).masked_offsets == MaskingConfig(ngram="trigram").masked_offsets
    for wrong in ({"ngram": "4-gram"}, {"active": "sometimes"}, {"init": "zeros"}):
        with pytest.raises(InputError):
            MaskingConfig(**wrong)


def test_padding_does_not_move_the_last_character(make):
    """A row's [SEP] is spared wherever its padding begins."""
    row = np.array([2, 10, 11, 12, 3])
    model = make("bert", ngram="right-bigram").eval()
    alone = model(collate([row], pad_multiple=1))[0]
    padded = model(collate([row], pad_multiple=24))[0, :5]
    torch.testing.assert_close(alone, padded, atol=1e-6, rtol=1e-5)
