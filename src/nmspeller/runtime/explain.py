"""Why one character was written instead of another."""

from collections.abc import Iterable
from functools import lru_cache

from nmspeller.runtime.correction import Reason

_PARTICLES = frozenset("的地得")
# pinyin.similarity is 0.96 for syllables that differ by a neutral tone: 门 for 们 is the same sound.
_SAME_SOUND = 0.96
_SIMILAR_SOUND = 0.6
_SIMILAR_SHAPE = 0.5

_WEAKEST_LAST = (Reason.DE, Reason.SAME_SOUND, Reason.SIMILAR_SOUND, Reason.SIMILAR_SHAPE, Reason.CONTEXT)


@lru_cache(maxsize=65536)
def reason(source: str, target: str) -> Reason:
    """The first reason that applies.

    Both are among 的地得; the same sound (a neutral tone makes no difference); a similar sound, such as
    another tone; a similar shape; otherwise only the context.
    """
    # Loaded with the first detection: a clean text does not need these tables.
    from nmspeller.knowledge import pinyin, shape

    if source in _PARTICLES and target in _PARTICLES:
        return Reason.DE
    sound = pinyin.similarity(source, target)
    if sound >= _SAME_SOUND:
        return Reason.SAME_SOUND
    if sound >= _SIMILAR_SOUND:
        return Reason.SIMILAR_SOUND
    if shape.similarity(source, target) >= _SIMILAR_SHAPE:
        return Reason.SIMILAR_SHAPE
    return Reason.CONTEXT


def is_explained(source: str, target: str) -> bool:
    """Whether similar sound or shape explains the edit."""
    return reason(source, target) is not Reason.CONTEXT


def weakest(reasons: Iterable[Reason]) -> Reason:
    """The reason of an edit of several characters: the weakest of theirs."""
    return max(reasons, key=_WEAKEST_LAST.index)
