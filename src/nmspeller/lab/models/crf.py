"""A linear-chain CRF over candidates: the partition function, the best path, marginals.

Each row has `length` positions with `k` candidates each; a path takes one candidate at each position, and
its score is the sum of its emissions and of the transitions between neighbours. Rows may be shorter than
the tensors: `real` is True at the positions that count, which come first.
"""

import torch
from torch import Tensor

NEVER = -1e4
"""Stands for the log of 0; finite, so that gradients stay finite."""


def log_partition(emissions: Tensor, transitions: Tensor, real: Tensor) -> Tensor:
    """The log of the summed exponentials of all paths' scores: (batch,).

    emissions: (batch, length, k); transitions: (batch, length - 1, k, k), from position t to t + 1; real:
    (batch, length) bool. Each step is a k × k matrix in the log semiring, and their product is taken as a
    tree, so that there are log₂(length) steps instead of length.
    """
    size = emissions.shape[-1]
    identity = torch.full((size, size), NEVER, dtype=emissions.dtype, device=emissions.device)
    identity = identity.masked_fill(torch.eye(size, dtype=torch.bool, device=emissions.device), 0.0)
    steps = transitions + emissions[:, 1:, None, :]
    steps = torch.where(real[:, 1:, None, None], steps, identity)
    while steps.shape[1] > 1:
        if steps.shape[1] % 2:
            steps = torch.cat([steps, identity.expand(len(steps), 1, size, size)], dim=1)
        left, right = steps[:, 0::2], steps[:, 1::2]
        steps = torch.logsumexp(left[..., :, :, None] + right[..., None, :, :], dim=-2)
    first = torch.where(real[:, :1], emissions[:, 0], identity[0])  # a row without characters sums to 1
    if steps.shape[1]:
        first = torch.logsumexp(first[:, :, None] + steps[:, 0], dim=1)
    return torch.logsumexp(first, dim=-1)


def path_score(emissions: Tensor, transitions: Tensor, real: Tensor, path: Tensor) -> Tensor:
    """The score of one path per row: path (batch, length) of candidate numbers → (batch,)."""
    emitted = emissions.gather(-1, path[..., None]).squeeze(-1)
    moved = transitions.gather(-2, path[:, :-1, None, None].expand(-1, -1, 1, transitions.shape[-1]))
    moved = moved.squeeze(-2).gather(-1, path[:, 1:, None]).squeeze(-1)
    return (emitted * real).sum(dim=1) + (moved * real[:, 1:]).sum(dim=1)


def marginals(emissions: Tensor, transitions: Tensor, real: Tensor) -> Tensor:
    """The probability of each candidate over all paths: (batch, length, k), from ∂ log Z / ∂ emission."""
    with torch.enable_grad():
        leaf = emissions.detach().requires_grad_()
        total = log_partition(leaf, transitions.detach(), real).sum()
        return torch.autograd.grad(total, leaf)[0]


def best_path(emissions: Tensor, transitions: Tensor, real: Tensor) -> Tensor:
    """Viterbi: the candidate numbers of each row's best path, 0 where nothing is real: (batch, length)."""
    length = emissions.shape[1]
    score = emissions[:, 0]
    came_from = []
    for t in range(1, length):
        reached, source = (score[:, :, None] + transitions[:, t - 1]).max(dim=1)
        score = torch.where(real[:, t, None], reached + emissions[:, t], score)
        stay = torch.arange(score.shape[1], device=score.device).expand_as(source)
        came_from.append(torch.where(real[:, t, None], source, stay))
    path = [score.argmax(dim=1)]
    for source in reversed(came_from):
        path.append(source.gather(1, path[-1][:, None]).squeeze(1))
    return torch.stack(path[::-1], dim=1) * real
