"""Bitmaps of characters: 32×32 pixels in three open fonts, shipped as one compressed array.

The fonts, in order: a sans serif (Noto Sans CJK SC), a Kai (AR PL UKai CN), and the Traditional sans serif
(Noto Sans CJK TC). If a font lacks a character, the first font's bitmap is used.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from nmspeller.knowledge.tables import load

SIZE = 32
FONTS = ("Noto Sans CJK SC", "AR PL UKai CN", "Noto Sans CJK TC")


@cache
def characters() -> str:
    """The characters that have bitmaps, in the order of `bitmaps`."""
    return "".join(map(chr, load("glyphs.npz")["characters"]))


@cache
def bitmaps() -> NDArray[np.uint8]:
    """1 where there is ink, 0 elsewhere: (characters, 3, 32, 32), read-only."""
    ink = np.unpackbits(load("glyphs.npz")["bits"], axis=-1)
    ink.flags.writeable = False
    return ink


def bitmaps_of(wanted: str) -> NDArray[np.uint8]:
    """Bitmaps of the wanted characters, blank where there are none: (len(wanted), 3, 32, 32)."""
    place = {character: number for number, character in enumerate(characters())}
    known = np.array([character in place for character in wanted], dtype=bool)
    found = np.zeros((len(wanted), len(FONTS), SIZE, SIZE), dtype=np.uint8)
    found[known] = bitmaps()[[place[character] for character in wanted if character in place]]
    return found
