"""The CRF against an enumeration of all paths."""

from itertools import product

import pytest
import torch

from nmspeller.lab.models import crf


@pytest.fixture(params=[1, 2, 3, 5])
def lattice(request):
    length = request.param
    lengths = torch.tensor([length, max(1, length - 2)])
    real = torch.arange(length)[None] < lengths[:, None]
    return torch.randn(2, length, 3), torch.randn(2, length - 1, 3, 3), real


def all_paths(emissions, transitions, real):
    """Per row: a list of (path, score)."""
    for row in range(len(emissions)):
        length = int(real[row].sum())
        yield [
            (
                path,
                sum(emissions[row, t, c] for t, c in enumerate(path))
                + sum(transitions[row, t, path[t], path[t + 1]] for t in range(length - 1)),
            )
            for path in product(range(3), repeat=length)
        ]


def test_partition_best_path_and_marginals(lattice):
    total = crf.log_partition(*lattice)
    best = crf.best_path(*lattice)
    probability = crf.marginals(*lattice)
    for row, paths in enumerate(all_paths(*lattice)):
        scores = torch.stack([score for _, score in paths])
        torch.testing.assert_close(total[row], scores.logsumexp(0))
        winner = paths[int(scores.argmax())][0]
        assert tuple(best[row, : len(winner)].tolist()) == winner
        for t in range(len(winner)):
            for c in range(3):
                through = torch.stack([score for path, score in paths if path[t] == c]).logsumexp(0)
                torch.testing.assert_close(probability[row, t, c], (through - total[row]).exp())


def test_the_score_of_one_path_is_the_sum_along_it(lattice):
    emissions, transitions, real = lattice
    path = torch.randint(0, 3, real.shape)
    score = crf.path_score(emissions, transitions, real, path)
    for row, paths in enumerate(all_paths(*lattice)):
        expected = dict(paths)[tuple(path[row, : int(real[row].sum())].tolist())]
        torch.testing.assert_close(score[row], expected)


def test_a_row_without_characters_has_a_partition_function_of_1():
    emissions, transitions = torch.randn(1, 4, 3), torch.randn(1, 3, 3, 3)
    nothing = torch.zeros(1, 4, dtype=torch.bool)
    assert crf.log_partition(emissions, transitions, nothing).item() == pytest.approx(0)


def test_gradients_are_finite():
    emissions = torch.full((1, 6, 3), -1e4, requires_grad=True)
    crf.log_partition(emissions, torch.zeros(1, 5, 3, 3), torch.ones(1, 6, dtype=torch.bool)).sum().backward()
    assert emissions.grad.isfinite().all()
