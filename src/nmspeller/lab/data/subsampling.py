"""Errors that a sentence alone does not decide are learnt from sparingly, or a speller learns to guess.

Who 他 or 她 is stands in another sentence; a name in a query may be written in any way; and what a speech
recogniser hears for a name is no spelling error at all.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from nmspeller.errors import InputError
from nmspeller.lab.data import noise_fitting
from nmspeller.lab.data.pairs import Pair

Kind = Callable[[Pair], bool]

_PRONOUNS = frozenset("他她它")
_PARTICLES = frozenset("的地得")


def sample_down(pairs: Sequence[Pair], keep: Mapping[str, float]) -> list[Pair]:
    """The pairs of a set with few enough of each undecidable kind; always the same ones.

    keep: the share of each of `KINDS` that is kept; of the others, all.

    Raises:
        InputError: there is no such kind.
    """
    for name in keep:
        if name not in KINDS:
            raise InputError(f"keep names {name!r}, which is unknown; use {', '.join(KINDS)}.")
    rules = [(KINDS[name], share) for name, share in keep.items()]
    return [pair for pair in pairs if all(_share_of(pair) < share for kind, share in rules if kind(pair))]


def swaps(characters: frozenset[str]) -> Kind:
    """Pairs with an error that puts one of these characters for another."""
    return lambda pair: any(
        wrong != right and {wrong, right} <= characters for wrong, right in zip(*pair, strict=True)
    )


def errs_outside_words(pair: Pair) -> bool:
    """Pairs with an error where no word of two characters is to be read: in a name, mostly."""
    words, right = _words(), pair.target
    return any(
        wrong != right[place] and not words & {right[max(place - 1, 0) : place + 1], right[place : place + 2]}
        for place, wrong in enumerate(pair.source)
    )


def any_error(pair: Pair) -> bool:
    """All pairs."""
    return pair.source != pair.target


KINDS: dict[str, Kind] = {
    "pronouns": swaps(_PRONOUNS),
    "particles": swaps(_PARTICLES),
    "outside_words": errs_outside_words,
    "any": any_error,
}


def _share_of(pair: Pair) -> float:
    """A number from 0 to 1 that a pair always has; another than the one that decides about dev sets."""
    return zlib.crc32(f"{pair.target}\t{pair.source}".encode("utf-8", "surrogatepass")) / 2**32


@cache
def _words() -> frozenset[str]:
    return frozenset(word for word, _ in noise_fitting.jieba_words())
