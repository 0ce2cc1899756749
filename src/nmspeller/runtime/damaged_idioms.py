"""Idioms that lack a character or have two swapped: 不约同 → 不约而同, 推及己人 → 推己及人.

What an idiom lacks is known, so that the model need not be sure that something is wrong.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from nmspeller.runtime.rules.vocabulary import LONGEST, SHORTEST, words


class Gap(NamedTuple):
    """Where an idiom lacks a character: the one that belongs before this place of the text."""

    place: int
    character: str


def gaps(text: str, place: int) -> Iterator[Gap]:
    """What the idioms around a place lack, if there are any that lack one character."""
    for start, stop in _stretches(text, place, place, SHORTEST - 1, LONGEST - 1):
        gap = _incomplete().get(text[start:stop])
        if gap and not _is_part_of_a_word(text, start, stop):
            yield Gap(start + gap.place, gap.character)


def is_swapped_idiom(text: str, place: int) -> bool:
    """Whether an idiom comes of swapping the characters at `place` and behind it, and none was there."""
    swapped = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    return any(
        swapped[start:stop] in words().idioms
        and text[start:stop] not in words().right_as_they_are
        and not _is_part_of_a_word(text, start, stop)
        for start, stop in _stretches(text, place, place + 2, SHORTEST, LONGEST)
    )


def lacking_one(idiom: str) -> Iterator[tuple[str, Gap]]:
    """The idiom without one of its characters, for each of them."""
    for place, character in enumerate(idiom):
        yield idiom[:place] + idiom[place + 1 :], Gap(place, character)


@cache
def _incomplete() -> dict[str, Gap]:
    """The gap in each stretch that only one idiom with a character missing can be."""
    found: dict[str, Gap] = {}
    idiom_of: dict[str, str] = {}
    doubtful = set(words().right_as_they_are)
    for idiom in words().idioms:
        for stretch, gap in lacking_one(idiom):
            # Without 不 it may say the opposite: 算他识抬举.
            if idiom_of.setdefault(stretch, idiom) != idiom or gap == Gap(0, "不"):
                doubtful.add(stretch)
            found[stretch] = gap
    for stretch in doubtful:
        found.pop(stretch, None)
    return found


def _stretches(text: str, first: int, last: int, shortest: int, longest: int) -> Iterator[tuple[int, int]]:
    """The stretches of such lengths that reach from `first` to `last`."""
    for length in range(shortest, longest + 1):
        for start in range(max(last - length, 0), min(first, len(text) - length) + 1):
            yield start, start + length


def _is_part_of_a_word(text: str, start: int, stop: int) -> bool:
    """Whether a longer word of the text reaches into the stretch, which then is no idiom."""
    return any(words().long_words_over(text, start, stop))
