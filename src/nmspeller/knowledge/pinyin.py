"""Mandarin readings of characters, and how similar two characters sound.

The readings come from pypinyin and are shipped, so that this module only needs numpy.
"""

from functools import cache
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from nmspeller.knowledge.sounds import Syllable as Syllable
from nmspeller.knowledge.sounds import base_similarity, syllable_similarity, tone_similarity
from nmspeller.knowledge.tables import load

# The weight of a reading that no common word uses; common readings have 1.
RARE_READING = 0.6

_SHORT_FINALS = {"iou": "iu", "uei": "ui", "uen": "un"}
_WITHOUT_INITIAL = {
    "i": "yi",
    "in": "yin",
    "ing": "ying",
    "iou": "you",
    "u": "wu",
    "uei": "wei",
    "uen": "wen",
}
_TONE_MARKS = ("", "\u0304", "\u0301", "\u030c", "\u0300", "")


class _Readings(NamedTuple):
    """The shipped table: reading r of character c is syllables[syllable[r]], first[c] <= r < first[c + 1]."""

    number: dict[str, int]
    syllables: tuple[Syllable, ...]
    first: NDArray[np.int32]
    syllable: NDArray[np.uint16]
    is_common: NDArray[np.bool_]


@cache
def _table() -> _Readings:
    data = load("pinyin.npz")
    characters = "".join(map(chr, data["characters"]))
    syllables = tuple(
        Syllable(str(initial), str(final), int(tone))
        for initial, final, tone in zip(data["initials"], data["finals"], data["tones"], strict=True)
    )
    number = {character: place for place, character in enumerate(characters)}
    return _Readings(number, syllables, data["first"], data["syllable"], data["is_common"].astype(bool))


def readings(character: str) -> tuple[Syllable, ...]:
    """Every reading of a character, the most common first; empty for other characters than Chinese ones."""
    table = _table()
    place = table.number.get(character)
    if place is None:
        return ()
    return tuple(table.syllables[s] for s in table.syllable[table.first[place] : table.first[place + 1]])


def common_readings(character: str) -> tuple[Syllable, ...]:
    """The readings that common words use, the most common first."""
    table = _table()
    place = table.number.get(character)
    if place is None:
        return ()
    ours = slice(table.first[place], table.first[place + 1])
    return tuple(table.syllables[s] for s in table.syllable[ours][table.is_common[ours]])


def spelling(syllable: Syllable) -> str:
    """The syllable as Pinyin is written: yuē, zhī, ma, lǜ."""
    letters = _letters(syllable.initial, syllable.final).replace("v", "ü")
    vowels = [place for place, letter in enumerate(letters) if letter in "aeêiouü"]
    # The mark is on a or e, on the o of ou, otherwise on the last vowel.
    marked = next((place for place in vowels if letters[place] in "aeê"), vowels[-1])
    if "ou" in letters:
        marked = letters.index("ou")
    return normalize("NFC", letters[: marked + 1] + _TONE_MARKS[syllable.tone] + letters[marked + 1 :])


def _letters(initial: str, final: str) -> str:
    if initial:
        short = _SHORT_FINALS.get(final, final)
        return initial + (short.replace("v", "u") if initial in "jqx" else short)
    if final in _WITHOUT_INITIAL:
        return _WITHOUT_INITIAL[final]
    if final[0] in "iuv":
        return {"i": "y", "u": "w", "v": "yu"}[final[0]] + final[1:]
    return final


@cache
def _syllable_matrix() -> NDArray[np.float32]:
    """syllable_similarity of all syllables: (syllables, syllables)."""
    syllables = _table().syllables
    bases = sorted({syllable._replace(tone=1) for syllable in syllables})
    number = {base: place for place, base in enumerate(bases)}
    alike = np.array([[base_similarity(a, b) for b in bases] for a in bases], dtype=np.float32)
    tones = np.array([[tone_similarity(a, b) for b in range(6)] for a in range(6)], dtype=np.float32)
    base = [number[syllable._replace(tone=1)] for syllable in syllables]
    tone = [syllable.tone for syllable in syllables]
    matrix: NDArray[np.float32] = alike[np.ix_(base, base)] * tones[np.ix_(tone, tone)]
    return matrix


def similarity(a: str, b: str) -> float:
    """How similar two characters sound, from 0 to 1, the best over their readings; 1 is the same syllable."""
    return max((syllable_similarity(x, y) for x in readings(a) for y in readings(b)), default=0.0)


def similarity_matrix(rows: str, columns: str) -> NDArray[np.float32]:
    """`similarity` of many characters at once, rare readings counting less: (len(rows), len(columns))."""
    alike = _best_over_readings(columns, _syllable_matrix())
    return _best_over_readings(rows, alike.T.copy()).astype(np.float32)


def _best_over_readings(characters: str, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The best row of `values` (syllables, n) over each character's readings: (len(characters), n)."""
    table = _table()
    best = np.zeros((len(characters), values.shape[1]), dtype=np.float32)
    for row, character in enumerate(characters):
        place = table.number.get(character)
        if place is not None:
            ours = slice(table.first[place], table.first[place + 1])
            weights = np.where(table.is_common[ours], 1.0, RARE_READING).astype(np.float32)
            best[row] = (weights[:, None] * values[table.syllable[ours]]).max(axis=0, initial=0)
    return best
