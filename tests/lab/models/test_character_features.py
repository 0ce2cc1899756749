import numpy as np
import pytest

from nmspeller.lab.models.character_features import SYMBOL, character_tables
from nmspeller.lab.models.tables import NO_SOUND

TOKENS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "情",
    "清",
    "请",
    "青",
    "晴",
    "精",
    "装",
    "a",
    "。",
    "##晴",
]


@pytest.fixture(scope="module")
def tables():
    return character_tables(TOKENS)


def spelling(tables, token):
    symbols = {number: symbol for symbol, number in SYMBOL.items()}
    return "".join(symbols[number] for number in tables.letters[TOKENS.index(token)] if number)


def test_a_spelling_is_tone_and_letters(tables):
    assert spelling(tables, "清") == "1qing"
    assert spelling(tables, "装") == "1zhuang"
    for token in ("[CLS]", "a", "。", "##晴"):
        assert tables.letters[TOKENS.index(token)].tolist() == [NO_SOUND, 0, 0, 0, 0, 0, 0, 0]


def test_syllables_have_no_tone(tables):
    number = dict(zip(TOKENS, tables.syllables, strict=True))
    assert number["情"] == number["清"] == number["请"] > 0
    assert len({number["情"], number["精"], number["装"], number["a"]}) == 4
    assert number["a"] == number["[CLS]"] == number["##晴"] == 0


def test_only_characters_have_pictures(tables):
    ink = tables.bitmaps.any(axis=(2, 3))
    assert ink[TOKENS.index("情")].all()
    assert not ink[TOKENS.index("[CLS]")].any()
    assert not ink[TOKENS.index("##晴")].any()


def test_graphs_have_each_similar_pair_once(tables):
    def pairs(edges):
        assert (edges[0] < edges[1]).all()
        found = {frozenset((TOKENS[a], TOKENS[b])) for a, b in edges.T}
        assert len(found) == edges.shape[1]
        return found

    sound, shape = pairs(tables.sound), pairs(tables.shape)
    assert frozenset("情清") in sound
    assert frozenset("情清") in shape
    assert not any("装" in pair for pair in sound | shape)


def test_the_tables_fit_their_vocabulary(tables):
    tables.check(len(TOKENS), ("letters", "bitmaps", "syllables", "sound", "shape"))
    assert tables.letters.dtype == tables.bitmaps.dtype == np.uint8
