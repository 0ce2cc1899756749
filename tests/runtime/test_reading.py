"""What the model reads of a text, and the way of its changes back to the source."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmspeller.runtime.correction import apply_edits
from nmspeller.runtime.edits import Change
from nmspeller.runtime.findings import Edit, Reason
from nmspeller.runtime.reading import Mended, Part, Reading
from nmspeller.text.script import Script

WINDOW = 126


def certain(offset: int, source: str, target: str) -> Edit:
    return Edit(offset, len(source), source, target, 1.0, (), Reason.RULE, rule="some")


def replacements(part: Part, wrong: str, right: str) -> list[Change]:
    return [Change(at, right, 0.9, 0.9) for at, character in enumerate(part.text) if character == wrong]


def corrected(text: str, reading: Reading, wrong: str, right: str) -> str:
    edits = [
        edit
        for number, part in enumerate(reading.parts)
        for edit in reading.edits(number, replacements(part, wrong, right))
    ]
    return apply_edits(text, edits)


@given(
    st.text("甲乙丙", max_size=8),
    st.lists(st.tuples(st.text("甲乙", max_size=3), st.text("丁戊", max_size=3), st.text("丙", min_size=1))),
)
def test_each_character_outside_the_edits_finds_its_way_back(start: str, pieces: list[tuple[str, str, str]]):
    source, edits = start, []
    for wrong, right, after in pieces:
        edits.append(certain(len(source), wrong, right))
        source += wrong + after
    mended = Mended(source, edits)
    assert mended.text == apply_edits(source, edits)
    written = {place for one in mended.edited for place in range(one.mended_start, one.mended_stop)}
    places = [mended.to_source(place) for place in range(len(mended.text)) if place not in written]
    replaced = {place for edit in edits for place in range(edit.offset, edit.stop)}
    assert places == [place for place in range(len(source)) if place not in replaced]


def test_the_model_reads_what_certain_edits_leave():
    text = "他门笑了。。我门也笑了。"
    reading = Reading(text, window=WINDOW, certain=[certain(4, "。。", "。")])
    (part,) = reading.parts
    assert part.text == "他门笑了。我门也笑了。"
    assert part.locked == ((4, 5),)
    assert corrected(text, reading, "门", "们") == "他们笑了。。我们也笑了。"


def test_an_edit_does_not_reach_over_what_is_deleted_between_its_characters():
    text = "借 少一下"
    reading = Reading(text, window=WINDOW, certain=[certain(1, " ", "")])
    changes = [Change(0, "介", 0.9, 0.9), Change(1, "绍", 0.9, 0.9)]
    edits = reading.edits(0, changes)
    assert [(edit.offset, edit.source, edit.target) for edit in edits] == [(0, "借", "介"), (2, "少", "绍")]


def test_ranges_that_are_locked_move_with_the_text():
    text = "好。。见abc和我门"
    reading = Reading(text, window=WINDOW, certain=[certain(1, "。。", "。")], locked=[(4, 7)])
    assert reading.parts[0].locked == ((1, 2), (3, 6))


@pytest.mark.parametrize("seed", range(24))
def test_parts_cover_the_text_and_each_is_read_once(seed):
    dice = random.Random(seed)
    signs = ["。！？；\n", "。", "，", "，，，，，，。", "，!?", "", "，\n", "。」…"][seed % 8]
    text = "".join("字" * dice.randrange(1, 90) + "门" + dice.choice(signs or [""]) for _ in range(60))
    reading = Reading(text, window=WINDOW)
    assert all(len(part.text) <= WINDOW for part in reading.parts)
    bounds = [reading.bounds(number) for number in range(len(reading.parts))]
    assert "".join(text[start:stop] for start, stop in bounds) == text
    assert corrected(text, reading, "门", "们") == text.replace("门", "们")


def test_a_part_depends_on_its_own_characters_alone():
    lines = [f"第{number}行写着我门。" for number in range(50)]
    whole = Reading("\n".join(lines), window=WINDOW)
    assert whole.parts == [part for line in lines for part in Reading(line, window=WINDOW).parts]


def test_blanks_at_the_edges_are_not_read():
    text = "\n\u3000\u3000我门。 \n"
    reading = Reading(text, window=WINDOW)
    assert [part.text for part in reading.parts if part.text] == ["我门。"]
    assert corrected(text, reading, "门", "们") == "\n\u3000\u3000我们。 \n"


def test_separators_of_records_at_the_edges_are_blanks():
    text = "\x1c我门去公园\x1d\x1e\x1f"
    assert [part.text for part in Reading(text, window=WINDOW).parts] == ["我门去公园"]


def test_traditional_text_is_read_in_simplified_and_corrected_in_its_own_script():
    text = "我門去讀書。"
    reading = Reading(text, window=WINDOW)
    assert reading.parts[0].text == "我门去读书。"
    assert corrected(text, reading, "门", "们") == "我們去讀書。"


def test_a_neutral_text_has_the_script_of_its_document():
    reading = Reading("我很高心。", window=WINDOW, document_script=Script.TRADITIONAL)
    assert corrected("我很高心。", reading, "心", "兴") == "我很高興。"


def test_a_traditional_character_in_simplified_text_is_read_in_simplified():
    text = "网络与網絡混用。"
    reading = Reading(text, window=WINDOW)
    assert reading.parts[0].text == "网络与网络混用。"
    assert corrected(text, reading, "络", "路") == "网路与網路混用。"


def test_a_text_that_certain_edits_delete_has_one_part_for_them():
    reading = Reading("，，", window=WINDOW, certain=[certain(0, "，，", "")])
    assert reading.parts == [Part("", 0, 0)]
    assert reading.bounds(0) == (0, 2)


def test_an_empty_text_has_no_parts():
    assert Reading("", window=WINDOW).parts == []


def insertions(text, window=WINDOW, **options):
    """Where the source gets an insertion if the model wants one at every place that it reads."""
    reading = Reading(text, window=window, **options)
    return [
        edit.offset
        for number, part in enumerate(reading.parts)
        for edit in reading.edits(
            number, [Change(place, "了", 0.9, 0.9, length=0) for place in range(len(part.text) + 1)]
        )
    ]


@pytest.mark.parametrize(
    "text", ["我看完。", "我看完。\n他也看完。\n", "\u3000我看  ", "一" * 400, "一二三。" * 60]
)
def test_each_place_between_two_characters_has_one_insertion_whatever_the_parts(text):
    places = insertions(text)
    assert len(places) == len(set(places))
    blanks = "\n\u3000 "
    expected = [
        place
        for place in range(len(text) + 1)
        if text[place - 1 : place].strip(blanks) or text[place : place + 1].strip(blanks)
    ]
    assert places == expected


def test_a_deletion_belongs_to_the_part_that_keeps_all_of_it():
    text = "一二三四五六七八九十" * 40
    reading = Reading(text, window=WINDOW)
    deleted = [
        edit.offset
        for number, part in enumerate(reading.parts)
        for edit in reading.edits(number, [Change(at, "", 0.9, 0.9) for at in range(0, len(part.text), 2)])
    ]
    assert len(deleted) == len(set(deleted))
