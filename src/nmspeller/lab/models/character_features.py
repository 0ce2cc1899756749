"""Character tables from the features that `nmspeller.knowledge` ships; no torch."""

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from nmspeller.knowledge import confusion, glyphs, pinyin, shape
from nmspeller.knowledge.sounds import syllable_similarity
from nmspeller.lab.models.tables import LETTERS, LONGEST_SPELLING, NO_SOUND, TONES, CharacterTables

ALIKE_IN_SOUND = 0.7
"""The least similarity of neighbours in the sound graph: a syllable in any tone, or qing and qin."""
ALIKE_IN_SHAPE = 0.5
"""The least similarity of neighbours in the shape graph: most of their strokes are the same."""

SYMBOL = {symbol: number for number, symbol in enumerate(TONES + LETTERS, start=1)}


def character_tables(tokens: Sequence[str]) -> CharacterTables:
    """The tables of a vocabulary; a token of several characters has no features."""
    characters = {token: number for number, token in enumerate(tokens) if len(token) == 1}
    readings = {character: pinyin.readings(character) for character in characters}
    sound, look = _graphs(characters, readings)
    return CharacterTables(
        letters=_letters(tokens, readings),
        bitmaps=glyphs.bitmaps_of("".join(token if len(token) == 1 else "\0" for token in tokens)),
        syllables=_syllables(tokens, readings),
        sound=sound,
        shape=look,
    )


Readings = dict[str, tuple[pinyin.Syllable, ...]]


def _letters(tokens: Sequence[str], readings: Readings) -> NDArray[np.uint8]:
    """Tone, then letters, of each token's most common reading: (tokens, 8)."""
    table = np.zeros((len(tokens), LONGEST_SPELLING), dtype=np.uint8)
    for row, token in zip(table, tokens, strict=True):
        spelled = [NO_SOUND]
        if readings.get(token):
            initial, final, tone = readings[token][0]
            spelled = [SYMBOL[symbol] for symbol in f"{tone}{initial}{final}"]
        row[: len(spelled)] = spelled
    return table


def _syllables(tokens: Sequence[str], readings: Readings) -> NDArray[np.int32]:
    """A number for each token's most common syllable without its tone; 0 for none: (tokens,)."""
    toneless = [readings[token][0][:2] if readings.get(token) else None for token in tokens]
    numbers = {
        syllable: number for number, syllable in enumerate(sorted(filter(None, set(toneless))), start=1)
    }
    return np.array([0 if syllable is None else numbers[syllable] for syllable in toneless], dtype=np.int32)


def _graphs(characters: dict[str, int], readings: Readings) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The pairs of our own confusion set that sound alike, and those that look alike: (2, edges) each."""
    alike = cache(syllable_similarity)
    sound, look = set(), set()
    for character, others in confusion.own_set().items():
        if character not in characters:
            continue
        seen = shape.neighbours(character)
        for other in others:
            if other not in characters:
                continue
            pair = tuple(sorted((characters[character], characters[other])))
            if any(alike(a, b) >= ALIKE_IN_SOUND for a in readings[character] for b in readings[other]):
                sound.add(pair)
            if seen.get(other, 0.0) >= ALIKE_IN_SHAPE:
                look.add(pair)
    return _edges(sound), _edges(look)


def _edges(pairs: Iterable[tuple[int, ...]]) -> NDArray[np.int32]:
    edges: NDArray[np.int32] = np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2).T.copy()
    return edges
