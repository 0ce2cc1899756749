"""Bitmaps, edges and which characters look alike."""

import numpy as np
import pytest

from nmspeller.knowledge import glyphs, shape
from outline import edge_features


def test_every_character_has_three_pictures() -> None:
    ink = glyphs.bitmaps()
    characters = glyphs.characters()
    assert ink.shape == (len(characters), 3, 32, 32)
    assert ink.dtype == np.uint8
    assert set(np.unique(ink)) == {0, 1}
    assert ink.any(axis=(2, 3)).all()
    assert len(set(characters)) == len(characters)
    assert set("的一是在龘〇漢灣").issubset({*characters, "龘"})


def test_the_pictures_are_of_their_characters() -> None:
    one, mouth, ten = glyphs.bitmaps_of("一口十")[:, 0]
    rows = np.flatnonzero(one.any(axis=1))
    assert rows.max() - rows.min() < 4
    assert mouth[16, 16] == 0
    assert mouth[16, :16].any()
    assert mouth[16, 16:].any()
    assert ten.any(axis=1).sum() > 20
    assert ten.any(axis=0).sum() > 20


def test_faces_differ() -> None:
    gothic, kai, traditional = np.moveaxis(glyphs.bitmaps(), 1, 0)
    assert (gothic != kai).any(axis=(1, 2)).mean() > 0.95
    assert 0.1 < (gothic != traditional).any(axis=(1, 2)).mean() < 0.9


def test_unknown_characters_are_blank() -> None:
    ink = glyphs.bitmaps_of("天a😀")
    assert ink.shape == (3, 3, 32, 32)
    assert ink[0].any()
    assert not ink[1:].any()
    assert glyphs.bitmaps_of("").shape == (0, 3, 32, 32)


def test_edges_of_a_blank_are_zero_and_others_have_length_one() -> None:
    features = edge_features(glyphs.bitmaps_of("天a")[:, 0])
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), [1, 0], atol=1e-5)


@pytest.mark.parametrize("pair", ["未末", "曰日", "土士", "情清", "己已", "大犬", "人入", "宫官", "戊戌"])
def test_characters_that_look_alike(pair: str) -> None:
    a, b = pair
    assert shape.similarity(a, b) > 0.4
    assert shape.similarity(a, b) == shape.similarity(b, a)


def test_characters_that_do_not_look_alike() -> None:
    assert shape.similarity("一", "龙") == 0
    assert shape.similarity("天", "x") == 0
    assert shape.similarity("天", "天") == 1


def test_neighbours_are_ranked_and_exclude_the_character() -> None:
    near = shape.neighbours("未")
    assert "未" not in near
    assert len(near) == 64
    assert list(near.values()) == sorted(near.values(), reverse=True)
    assert shape.neighbours("x") == {}
