"""Which words are offered at a place in a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmspeller.runtime.word_guess import words_around


def offered(text, start, stop):
    return [text[left:right] for left, right in words_around(text, start, stop)]


@pytest.mark.parametrize(
    ("text", "place", "best"),
    [
        ("我们高心集团的产品很好", "心", "高心"),
        ("請聯絡高心集團的張先生", "心", "高心"),
        ("他和张林一起来了", "林", "张林"),
        ("由赵睿涵主持", "睿", "赵睿涵"),
        ("使用飞桨训练模型", "桨", "飞桨"),
        ("我很高心", "心", "高心"),
        ("他在iPhone上看", "P", "iPhone"),
        ("「C-3.」", "3", "C-3"),
    ],
)
def test_an_unknown_word_ends_where_known_ones_begin(text, place, best):
    at = text.index(place)
    assert offered(text, at, at + len(place))[0] == best


def test_the_neighbours_of_the_word_are_offered_after_it():
    assert offered("我们高心集团的产品", 3, 4) == ["高心", "高心集团", "我们高心", "我们高心集团"]


def test_one_character_is_a_word_only_where_it_stands_alone():
    assert offered("认真的完成任务", 2, 3) == ["的完成", "认真的", "认真的完成", "真的"]
    assert offered("，心。", 1, 2) == ["心"]


def test_a_missing_character_is_in_a_word():
    assert offered("我喜跑步", 2, 2) == ["喜跑步"]


@pytest.mark.parametrize(
    ("text", "start", "stop"), [("", 0, 0), ("我，他", 1, 2), ("  ", 1, 1), ("……", 0, 2)]
)
def test_marks_and_spaces_are_no_words(text, start, stop):
    assert offered(text, start, stop) == []


@given(st.text("我们高心集團的產品a。 \n1", max_size=40), st.integers(0, 40), st.integers(0, 4))
def test_every_word_covers_the_place(text, start, length):
    start = min(start, len(text))
    stop = min(start + length, len(text))
    for left, right in words_around(text, start, stop):
        assert 0 <= left <= start <= stop <= right <= len(text)
        assert left < right
        assert "\n" in text[start:stop] or "\n" not in text[left:right]
