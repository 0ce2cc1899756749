"""Idioms that lack a character or have two swapped, without a model."""

import pytest

from nmspeller.runtime.damaged_idioms import Gap, gaps, is_swapped_idiom
from nmspeller.runtime.rules.vocabulary import words


@pytest.mark.parametrize("place", range(2, 6))
def test_the_gap_is_found_from_any_place_in_or_beside_the_idiom(place):
    assert list(gaps("大家不约同地站了起来。", place)) == [Gap(4, "而")]


@pytest.mark.parametrize(
    ("text", "place", "gap"),
    [
        ("她津津有地看着。", 4, Gap(4, "味")),  # at the end
        ("这才叫名其妙！", 3, Gap(3, "莫")),  # at the beginning
        ("不约同", 3, Gap(2, "而")),  # the whole text
        ("他们只会纸上谈。", 7, Gap(7, "兵")),
    ],
)
def test_any_character_may_be_missing(text, place, gap):
    assert gap in gaps(text, place)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("大家不约而同地站了起来。", 4),  # nothing is missing
        ("这件事莫名其妙。", 4),  # 名其妙 is part of it
        ("大家不约同地站了起来。", 7),  # elsewhere
        ("他坐了几年冷板凳。", 6),  # right without 坐
        ("算你识抬举。", 2),  # the opposite of 不识抬举
        ("", 0),
        ("不", 1),
    ],
)
def test_nothing_is_missing(text, place):
    assert list(gaps(text, place)) == []


def test_a_stretch_that_two_idioms_may_be_says_nothing():
    assert {"并无二致", "毫无二致"} <= words().idioms
    assert list(gaps("两者无二致。", 3)) == []


@pytest.mark.parametrize(
    ("text", "place"), [("要推及己人。", 2), ("她小翼心翼地走。", 2), ("一见心倾", 2), ("他迫不待及了。", 3)]
)
def test_two_characters_are_swapped(text, place):
    assert is_swapped_idiom(text, place)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("要推己及人。", 2),  # swapping makes no idiom
        ("这件事人尽皆知。", 3),  # as right as 尽人皆知
        ("你千万千万要小心。", 2),
        ("看书", 0),
    ],
)
def test_nothing_is_swapped(text, place):
    assert not is_swapped_idiom(text, place)


def test_what_is_right_as_it_is_is_no_idiom():
    known = words()
    assert len(known.right_as_they_are) >= 2_000
    assert known.right_as_they_are.isdisjoint(known.idioms)
