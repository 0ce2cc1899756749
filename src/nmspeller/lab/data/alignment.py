"""What must be changed in one sentence to get another: characters extra, missing, swapped or replaced.

The result has the source's length: the right character of each source character, and tags (see
`edit_noise`). Edits stand as far to the end as they can, so that 在在 always has its second 在 too many.
"""

from typing import NamedTuple

EXTRA, MISSING, SWAPPED = 1, 2, 4
"""The bits of a character's tags: it is extra; something is missing before it; the next belongs before it."""
UNPLACED = "\ufffd"
_SUBSTITUTION = 1.9  # a little less than a character extra and another missing


class Aligned(NamedTuple):
    """labels: the right character of each source character, itself where extra; tags: one more than these."""

    labels: str
    tags: list[int]


def align(source: str, target: str) -> Aligned:
    """The labels and tags of a source; sentences of equal length are compared place by place."""
    if len(source) == len(target):
        return Aligned(target, [0] * (len(source) + 1))
    head = _common(source, target)
    tail = _common(source[head:][::-1], target[head:][::-1])
    left, right = source[head : len(source) - tail], target[head : len(target) - tail]
    costs = _costs(left, right)
    labels, tags = list(source[:head]), [0] * head
    missing = 0
    row = column = 0
    while row < len(left) or column < len(right):
        here = costs[row][column]
        both = row < len(left) and column < len(right)
        if both and here == costs[row + 1][column + 1] + _cost(left[row], right[column]):
            labels.append(right[column])
            tags.append(missing)
            row, column, missing = row + 1, column + 1, 0
        elif row < len(left) and here == costs[row + 1][column] + 1:
            labels.append(left[row])
            tags.append(EXTRA | missing)
            row, missing = row + 1, 0
        else:
            column, missing = column + 1, MISSING
    labels += source[len(source) - tail :]
    tags += [missing, *[0] * tail]
    return Aligned("".join(labels), tags)


def laid_out(source: str, corrected: str) -> str:
    """The corrected sentence in as many characters as the source, for what compares place by place.

    Where characters are inserted or deleted stands UNPLACED, which no sentence has; an insertion takes the
    place of the character that it stands before.
    """
    labels, tags = align(source, corrected)
    places = [UNPLACED if tag else label for label, tag in zip(labels, tags, strict=False)]
    if tags[-1] and places:
        places[-1] = UNPLACED
    return "".join(places)


def apply(source: str, labels: str, tags: list[int], filled: dict[int, str]) -> str:
    """The source as corrected; filled: what is missing before each place that is tagged so."""
    parts = []
    for place, (label, tag) in enumerate(zip(labels + "\0", tags, strict=True)):
        parts += [filled[place]] if tag & MISSING else []
        parts += [] if tag & EXTRA or place == len(source) else [label]
    return "".join(parts)


def _common(one: str, other: str) -> int:
    """How many characters the two begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _cost(one: str, other: str) -> float:
    return 0.0 if one == other else _SUBSTITUTION


def _costs(left: str, right: str) -> list[list[float]]:
    """The least cost of the rests from each row and column on: (len(left) + 1, len(right) + 1)."""
    costs = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for row in range(len(left), -1, -1):
        for column in range(len(right), -1, -1):
            ways = []
            if row < len(left) and column < len(right):
                ways.append(costs[row + 1][column + 1] + _cost(left[row], right[column]))
            if row < len(left):
                ways.append(costs[row + 1][column] + 1)
            if column < len(right):
                ways.append(costs[row][column + 1] + 1)
            costs[row][column] = min(ways, default=0.0)
    return costs


def distance(source: str, target: str) -> float:
    """How far two sentences are apart, a character extra or missing being 1."""
    head = _common(source, target)
    tail = _common(source[head:][::-1], target[head:][::-1])
    return _costs(source[head : len(source) - tail], target[head : len(target) - tail])[0][0]


def brings_nearer(source: str, edited: str, target: str) -> bool:
    """Whether an edit brings a source nearer to its target by all that it changes."""
    gained = distance(source, target) - distance(edited, target)
    return abs(gained - distance(source, edited)) < 1e-6
