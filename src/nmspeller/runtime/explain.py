"""Why one character was written instead of another."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from nmspeller.runtime.findings import Reason

if TYPE_CHECKING:
    from nmspeller.knowledge.pinyin import Syllable

_PARTICLES = frozenset("的地得")
# pinyin.similarity is 0.96 for syllables that differ by a neutral tone: 门 for 们 is the same sound.
_SAME_SOUND = 0.96
_SIMILAR_SOUND = 0.6
_SIMILAR_SHAPE = 0.5

_WEAKEST_LAST = (
    Reason.DE,
    Reason.SAME_SOUND,
    Reason.SIMILAR_SOUND,
    Reason.SIMILAR_SHAPE,
    Reason.MISSING,
    Reason.EXTRA,
    Reason.CONTEXT,
)


@lru_cache(maxsize=65536)
def reason(source: str, target: str) -> Reason:
    """The first reason that applies.

    Both are among 的地得; the same sound (a neutral tone makes no difference); a similar sound, such as
    another tone; a similar shape; otherwise only the context.
    """
    # Loaded with the first detection: a clean text does not need this table.
    from nmspeller.knowledge import pinyin

    if source in _PARTICLES and target in _PARTICLES:
        return Reason.DE
    heard = _heard(pinyin.similarity(source, target))
    if heard is Reason.CONTEXT and look_similar(source, target):
        return Reason.SIMILAR_SHAPE
    return heard


def look_similar(source: str, target: str) -> bool:
    """Whether the eye may take one character for the other."""
    from nmspeller.knowledge import shape

    return shape.similarity(source, target) >= _SIMILAR_SHAPE


def closest_readings(source: str, target: str) -> tuple["Syllable", "Syllable"] | None:
    """A reading of each character, those that sound most similar; None if one of the two has no reading.

    A reading that no common word uses counts only where nothing else explains the edit: 乏 fá is written for
    泛 fàn because of its shape, not because old texts also read 泛 as fá.
    """
    from nmspeller.knowledge import pinyin

    common = _closest(pinyin.common_readings(source), pinyin.common_readings(target))
    if common and (heard(*common) is not Reason.CONTEXT or look_similar(source, target)):
        return common
    return _closest(pinyin.readings(source), pinyin.readings(target))


def _closest(
    ours: Iterable["Syllable"], theirs: Iterable["Syllable"]
) -> tuple["Syllable", "Syllable"] | None:
    """The first pair of the best kind of likeness."""
    return min(product(ours, theirs), key=lambda pair: _WEAKEST_LAST.index(heard(*pair)), default=None)


def heard(a: "Syllable", b: "Syllable") -> Reason:
    """Whether two syllables are the same sound, a similar one, or alike in nothing but their context."""
    from nmspeller.knowledge.sounds import syllable_similarity

    return _heard(syllable_similarity(a, b))


def _heard(similarity: float) -> Reason:
    if similarity >= _SAME_SOUND:
        return Reason.SAME_SOUND
    return Reason.SIMILAR_SOUND if similarity >= _SIMILAR_SOUND else Reason.CONTEXT


def is_explained(source: str, target: str) -> bool:
    """Whether similar sound or shape explains the edit."""
    return reason(source, target) is not Reason.CONTEXT


def weakest(reasons: Iterable[Reason]) -> Reason:
    """The reason of an edit of several characters: the weakest of theirs."""
    return max(reasons, key=_WEAKEST_LAST.index)
