"""Why one character was written for another, as a person would say it."""

from collections.abc import Iterable
from functools import lru_cache

from nmspeller.runtime.correction import Reason

_PARTICLES = frozenset("的地得")
# The neutral tone is worth 0.96 to pinyin.similarity: 门 for 们 is called the same sound.
_SAME_SOUND = 0.96
_SIMILAR_SOUND = 0.6
_SIMILAR_SHAPE = 0.5

_WEAKEST_LAST = (Reason.DE, Reason.SAME_SOUND, Reason.SIMILAR_SOUND, Reason.SIMILAR_SHAPE, Reason.CONTEXT)


@lru_cache(maxsize=65536)
def reason(source: str, target: str) -> Reason:
    """What a person would say of one character in place of another; the first that applies.

    Both of 的地得; the same sound (the neutral tone is no difference); a similar sound, such as another tone;
    a similar shape; and where neither ear nor eye explains it, the context alone.
    """
    # Loaded with the first finding: a clean text needs no knowledge of characters.
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
    """Whether ear or eye explains the edit."""
    return reason(source, target) is not Reason.CONTEXT


def weakest(reasons: Iterable[Reason]) -> Reason:
    """The one reason that covers all of several characters: the weakest of theirs."""
    return max(reasons, key=_WEAKEST_LAST.index)
