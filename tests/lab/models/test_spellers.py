"""All six spellers, masked and not: they learn, and their scores do not depend on the batch."""

import numpy as np
import pytest
import torch

from nmspeller.lab.evaluation.paper import SPELLERS
from nmspeller.lab.models.batch import Batch, collate, pack
from nmspeller.lab.models.spellgcn import GraphLayers, NormalisedAdjacency

EVERY = pytest.mark.parametrize("speller", SPELLERS)
MASKED = pytest.mark.parametrize("ngram", [None, "trigram"], ids=["unmasked", "masked"])
STILL = {"dropout": 0.0, "attention_dropout": 0.0}


def pairs(count: int, vocabulary: int = 60):
    """Sentences with one changed character each, and where it should go back."""
    draw = np.random.default_rng(1)
    sources, targets = [], []
    for _ in range(count):
        right = draw.integers(5, vocabulary, draw.integers(4, 9))
        wrong = right.copy()
        wrong[draw.integers(len(right))] = draw.integers(5, vocabulary)
        sources.append(np.concatenate([[2], wrong, [3]]))
        targets.append(np.concatenate([[-100], right, [-100]]))
    return sources, targets


@EVERY
def test_every_speller_can_overfit_24_pairs(make, speller):
    model = make(
        speller, ngram="trigram", encoder={"hidden": 64, "intermediate": 128, "layers": 1, **STILL}
    ).train()
    sources, targets = pairs(24)
    batch = collate(sources, targets)
    optimiser = torch.optim.AdamW(model.parameters(), lr=6e-3, weight_decay=0.0)
    wanted = batch.targets != -100
    for step in range(300):
        optimiser.zero_grad()
        model.loss(batch).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % 10 == 9:
            ids, _ = model.eval().predict(batch)
            if torch.equal(ids[wanted], batch.targets[wanted]):
                break
            model.train()
    assert torch.equal(ids[wanted], batch.targets[wanted])
    alone, _ = model.predict(collate(sources[:1], pad_multiple=1))
    assert torch.equal(alone[0], ids[0, : len(sources[0])])


@EVERY
@MASKED
def test_scores_are_the_same_alone_in_a_batch_and_packed(make, rows, speller, ngram):
    model = make(speller, ngram=ngram).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    model.eval()
    alone = [model.predict(collate([row], pad_multiple=1)) for row in rows]
    ids = torch.cat([each[0][0] for each in alone])
    probabilities = torch.cat([each[1][0] for each in alone])
    with torch.no_grad():
        scores = torch.cat([model(collate([row], pad_multiple=1))[0] for row in rows])
    for batch in (collate(rows), collate(rows, pad_multiple=30), pack(rows)):
        with torch.no_grad():
            found = *model.predict(batch), model(batch)
        found = [each[batch.real] if isinstance(batch, Batch) else each for each in found]
        assert torch.equal(found[0], ids)
        torch.testing.assert_close(found[1], probabilities, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(found[2], scores, atol=1e-4, rtol=1e-4)


@EVERY
@MASKED
def test_every_parameter_gets_a_gradient(make, rows, speller, ngram):
    """Without one, several processes would wait for each other forever."""
    model = make(speller, ngram=ngram, active="training").train()
    model.loss(collate(rows, [np.concatenate([[-100], row[1:-1], [-100]]) for row in rows])).backward()
    assert [name for name, parameter in model.named_parameters() if parameter.grad is None] == []


@EVERY
def test_every_speller_works_in_bf16(make, rows, speller):
    model = make(speller, ngram="trigram").train()
    targets = [np.concatenate([[-100], row[1:-1], [-100]]) for row in rows]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model.loss(collate(rows, targets))
    assert loss.dtype == torch.float32
    loss.backward()
    assert loss.isfinite()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ids, probabilities = model.eval().predict(collate(rows))
    assert ids.shape == probabilities.shape
    assert ((probabilities >= 0) & (probabilities <= 1.01)).all()


@EVERY
def test_an_empty_sentence_can_be_predicted(make, speller):
    model = make(speller, ngram="trigram").eval()
    empty, full = [2, 3], [2, 9, 10, 3]
    for batch in (collate([empty]), collate([empty], pad_multiple=1), collate([empty, full]), pack([empty])):
        ids, probabilities = model.predict(batch)
        assert ids.shape == batch.ids.shape
        assert probabilities[..., :2].isfinite().all()


def test_dcn_keeps_the_ends_and_gives_marginals(make, rows):
    ids, probabilities = make("dcn").eval().predict(collate(rows))
    for row, source in enumerate(rows):
        assert ids[row, 0] == 2
        assert ids[row, len(source) - 1] == 3
        assert probabilities[row, 0] == 1


def test_dcn_loss_is_the_negative_log_of_a_probability(make, rows):
    model = make("dcn", encoder=STILL).train()
    loss = model.loss(collate(rows, rows))
    assert loss.item() > 0
    one = model.loss(collate(rows[:1], rows[:1]))
    others = model.loss(collate(rows[1:], rows[1:]))
    torch.testing.assert_close(loss, (one + 4 * others) / 5)


def test_a_graph_is_the_normalised_adjacency():
    edges = np.array([[0, 1, 2], [1, 2, 0]])
    dense = torch.eye(4)
    for a, b in edges.T:
        dense[a, b] = dense[b, a] = 1
    scale = torch.diag(dense.sum(dim=0) ** -0.5)
    states = torch.randn(4, 8)
    torch.testing.assert_close(NormalisedAdjacency(edges, 4)(states), scale @ dense @ scale @ states)


def test_spellgcn_rows_follow_the_equations_and_other_rows_are_unchanged(make):
    model = make("spellgcn", graph_dropout=0.0)
    layers: GraphLayers = model.graphs
    words = model.semantic.embeddings.words.weight
    rows = layers(words)
    outside = torch.ones(60, dtype=torch.bool)
    outside[layers.nodes] = False
    assert outside.sum() == 5  # the special tokens are in no graph
    assert torch.equal(rows[outside], words[outside])

    history = [words[layers.nodes]]
    for maps in layers.maps:
        seen = torch.stack([g(m(history[-1])) for g, m in zip(layers.graphs, maps, strict=True)])
        weights = torch.softmax(layers.attention(seen) / 3, dim=0)
        history.append((weights * seen).sum(dim=0) + sum(history))
    torch.testing.assert_close(rows[layers.nodes], history[-1])
