"""How similar characters look, by their components and their bitmaps.

The nearest neighbours of each character are shipped; docs/knowledge.md and scripts/outline.py have the
features.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.knowledge.tables import load


class _Neighbours(NamedTuple):
    """Row c holds the neighbours of characters[c] and their similarity in 255ths: (characters, 64)."""

    number: dict[str, int]
    characters: str
    neighbours: NDArray[np.uint16]
    degrees: NDArray[np.uint8]


@cache
def _table() -> _Neighbours:
    data = load("shape.npz")
    characters = "".join(map(chr, data["characters"]))
    number = {character: place for place, character in enumerate(characters)}
    return _Neighbours(number, characters, data["neighbours"], data["degrees"])


def neighbours(character: str) -> dict[str, float]:
    """The 64 characters that look most similar, with their similarity, the most similar first."""
    table = _table()
    place = table.number.get(character)
    if place is None:
        return {}
    return {
        table.characters[other]: degree / 255
        for other, degree in zip(table.neighbours[place].tolist(), table.degrees[place].tolist(), strict=True)
    }


def similarity(a: str, b: str) -> float:
    """How similar two characters look, from 0 to 1; 0 if neither is a nearest neighbour of the other."""
    if a == b:
        return 1.0
    return max(neighbours(a).get(b, 0.0), neighbours(b).get(a, 0.0))
