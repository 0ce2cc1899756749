"""Neighbours of positions in a row, padded and packed."""

import pytest
import torch

from nmspeller.lab.models.batch import collate, pack

ROWS = [torch.tensor([2, 7, 8, 9, 10, 3]), torch.tensor([2, 3]), torch.tensor([2, 11, 3])]


def shifted(row: torch.Tensor, distance: int) -> list[int]:
    """Each position's neighbour, 0 where there is none."""
    places = range(distance, distance + len(row))
    return [int(row[place]) if 0 <= place < len(row) else 0 for place in places]


@pytest.mark.parametrize("distance", range(-7, 8))
def test_rows_end_where_they_do(distance):
    padded, packed = collate(ROWS), pack(ROWS)
    wanted = [shifted(row, distance) for row in ROWS]
    assert packed.neighbours(packed.ids, distance).tolist() == [each for row in wanted for each in row]
    assert packed.has_neighbour(distance).tolist() == [each > 0 for row in wanted for each in row]
    for row, found, there in zip(
        wanted,
        padded.neighbours(padded.ids, distance).tolist(),
        padded.has_neighbour(distance).tolist(),
        strict=True,
    ):
        assert found[: len(row)] == row
        assert there[: len(row)] == [each > 0 for each in row]


def test_states_have_neighbours_too():
    packed = pack(ROWS)
    states = torch.stack((packed.ids, -packed.ids), dim=-1).float()
    before = packed.neighbours(packed.ids, -1).float()
    assert torch.equal(packed.neighbours(states, -1), torch.stack((before, -before), dim=-1))
