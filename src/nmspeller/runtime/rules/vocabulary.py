"""The words that rules know, shipped in one compressed file; scripts/build_rule_words.py writes it."""

import lzma
from functools import cache
from importlib import resources
from typing import NamedTuple


class Words(NamedTuple):
    """Simplified words; NOTICE.md says where they come from.

    `idioms`: idioms of four to eight characters that are in use, and so may be meant.
    `long_words`: these and other words of four to eight characters, each of them right as it stands.
    `short_words`: words of two characters.
    `bound`: characters that hardly ever stand alone as a word, and are never doubled.
    `variants`: two characters, the lower code point first, that idioms have in place of one another.
    `mistakes`: idioms with a wrong character that only sounds like the right one, as people write them.
    """

    idioms: frozenset[str]
    long_words: frozenset[str]
    short_words: frozenset[str]
    bound: frozenset[str]
    mistakes: frozenset[str]
    variants: frozenset[str]


@cache
def words() -> Words:
    """The shipped words; read once, on first use."""
    packed = resources.files("nmspeller.runtime.rules").joinpath("words.txt.xz").read_bytes()
    idioms, others, short, bound, mistakes, variants = lzma.decompress(packed).decode("utf-8").split("\n")
    right = frozenset(idioms.split())
    return Words(
        idioms=right,
        long_words=right.union(others.split()),
        short_words=frozenset(_pairs(short)),
        bound=frozenset(bound),
        mistakes=frozenset(mistakes.split()),
        variants=frozenset(_pairs(variants)),
    )


def _pairs(characters: str) -> list[str]:
    return [characters[start : start + 2] for start in range(0, len(characters), 2)]
