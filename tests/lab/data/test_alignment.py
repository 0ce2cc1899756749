"""Sentences of unequal length as labels and tags of the source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmspeller.lab.data.alignment import EXTRA, MISSING, UNPLACED, align, apply, brings_nearer, laid_out


def places(tags, bit):
    return [place for place, tag in enumerate(tags) if tag & bit]


@pytest.mark.parametrize(
    ("source", "target", "extra", "missing"),
    [
        ("我在在北京。", "我在北京。", [2], []),
        ("处理依据依据。", "处理依据。", [4, 5], []),
        ("我觉很好。", "我觉得很好。", [], [2]),
        ("火眼金", "火眼金睛", [], [3]),
        ("妈来了", "妈妈来了", [], [1]),
        ("自己的去", "我自己去", [2], [0]),
        ("推及己人", "推己及人", [], []),
    ],
)
def test_edits_stand_at_the_last_place_that_reads_the_same(source, target, extra, missing):
    labels, tags = align(source, target)
    assert len(labels) == len(source)
    assert len(tags) == len(source) + 1
    assert places(tags, EXTRA) == extra or len(source) == len(target)
    assert places(tags, MISSING) == missing or len(source) == len(target)


def test_equal_lengths_are_compared_place_by_place():
    assert align("推及己人", "推己及人") == ("推己及人", [0] * 5)


@given(st.text("甲乙丙", max_size=8), st.text("甲乙丙丁", max_size=8))
def test_labels_and_tags_say_enough_to_get_the_target(source, target):
    labels, tags = align(source, target)
    kept = [label for label, tag in zip(labels, tags, strict=False) if not tag & EXTRA]
    # What is kept is a subsequence of the target; what is missing lies in the gaps that are tagged.
    rest = iter(target)
    assert all(character in rest for character in kept)
    if not any(tag & MISSING for tag in tags):
        assert "".join(kept) == target
        assert apply(source, labels, tags, {}) == target


def test_what_is_missing_is_filled_in():
    labels, tags = align("我觉很好好", "我觉得很好")
    assert apply("我觉很好好", labels, tags, {2: "得"}) == "我觉得很好"


@pytest.mark.parametrize(
    ("source", "corrected", "laid"),
    [
        ("我门走", "我们走", "我们走"),
        ("我门走", "我们就走", f"我们{UNPLACED}"),
        ("在在家", "在家", f"在{UNPLACED}家"),
        ("我走", "我走了", f"我{UNPLACED}"),
    ],
)
def test_a_corrected_sentence_is_laid_on_the_places_of_its_source(source, corrected, laid):
    assert laid_out(source, corrected) == laid


def test_an_edit_is_right_even_where_much_else_is_wrong():
    source, target = "他门门再加里坐饭", "他们在家里做饭"
    assert brings_nearer(source, "他门再加里坐饭", target)
    assert not brings_nearer(source, "他门门再加里坐", target)
