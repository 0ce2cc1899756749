"""Positions: the protocol's lines and the editor's units, against an arithmetic in bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from tests.growth import assert_linear

from nmspeller.apps.lsp.document import OpenDocument

CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
encodings = st.sampled_from(sorted(CODECS))
FAMILY = "👨‍👩‍👧‍👦"

# Characters of each width, a lone surrogate, and all that some program takes for the end of a line.
texts = st.text(st.sampled_from("中aé😀\u200d𠀀\ud800\n\r\u2028\x0c\x85"))


def document(text, encoding="utf-16"):
    return OpenDocument("file:///a", "plaintext", 1, text, encoding)


@given(text=texts, encoding=encodings, data=st.data())
def test_a_position_leads_back_to_its_code_point(text, encoding, data):
    offset = data.draw(st.integers(0, len(text)))
    inside_line_end = text[offset - 1 : offset + 1] == "\r\n"
    if not inside_line_end:
        assert document(text, encoding).offset(document(text, encoding).position(offset)) == offset


@given(text=texts, encoding=encodings, data=st.data())
def test_positions_count_the_editors_units_on_the_protocols_lines(text, encoding, data):
    offset = data.draw(st.integers(0, len(text)))
    codec, size = CODECS[encoding]
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if text[offset - 1 : offset + 1] == "\r\n":
        return
    assert document(text, encoding).position(offset) == types.Position(
        len(before) - 1, len(before[-1].encode(codec, "surrogatepass")) // size
    )


@given(text=texts, new=texts, encoding=encodings, data=st.data())
def test_a_change_replaces_exactly_its_range(text, new, encoding, data):
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    if "\r\n" in (text[start - 1 : start + 1], text[stop - 1 : stop + 1]):
        return
    old = document(text, encoding)
    change = types.TextDocumentContentChangePartial(range=old.range(start, stop), text=new)
    assert old.changed([change], 2) == OpenDocument(
        "file:///a", "plaintext", 2, text[:start] + new + text[stop:], encoding
    )


@given(text=texts, encoding=encodings, line=st.integers(0, 50), character=st.integers(0, 500))
def test_no_position_is_too_strange(text, encoding, line, character):
    assert 0 <= document(text, encoding).offset(types.Position(line, character)) <= len(text)


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 25), ("utf-16", 11), ("utf-32", 7)])
def test_a_family_is_seven_code_points(encoding, character):
    assert document(f"{FAMILY}在见", encoding).position(len(FAMILY)).character == character


def test_a_position_beyond_the_line_means_its_end():
    assert document("中文\r\n字").offset(types.Position(0, 99)) == 2
    assert document("中文\r\n字").offset(types.Position(9, 0)) == 5


def test_a_position_inside_a_character_means_its_start():
    assert document("😀中").offset(types.Position(0, 1)) == 0
    assert document("中", "utf-8").offset(types.Position(0, 2)) == 0


@given(text=texts, encoding=encodings, character=st.integers(0, 50))
def test_a_position_counts_as_one_by_one(text, encoding, character):
    codec, size = CODECS[encoding]
    line = text.replace("\r", "\n").split("\n")[0]
    expected, units = 0, 0
    for one in line:
        units += len(one.encode(codec, "surrogatepass")) // size
        expected += units <= character
    assert document(text, encoding).offset(types.Position(0, character)) == expected


def test_a_very_long_line_is_counted_in_few_parts(monkeypatch):
    long, counted = document("中😀" * 1000), []
    units = long._units
    monkeypatch.setattr(type(long), "_units", lambda _, part: counted.append(len(part)) or units(part))
    assert long.offset(types.Position(0, 2_999)) == 1_999
    assert len(counted) < 20
    assert sum(counted) <= 2000


@given(text=texts, encoding=encodings, data=st.data())
def test_changes_in_one_message_are_as_good_as_one_by_one(text, encoding, data):
    positions = st.builds(types.Position, st.integers(0, 4), st.integers(0, 9))
    change = st.builds(
        types.TextDocumentContentChangePartial, range=st.builds(types.Range, positions, positions), text=texts
    )
    changes = data.draw(st.lists(change | st.builds(types.TextDocumentContentChangeWholeDocument, texts)))
    one_by_one = document(text, encoding)
    for each in changes:
        one_by_one = one_by_one.changed([each], 2)
    assert document(text, encoding).changed(changes, 2).text == one_by_one.text


def test_a_carriage_return_and_a_line_feed_come_together():
    first, second = types.Position(0, 1), types.Position(1, 0)
    changes = [
        types.TextDocumentContentChangePartial(types.Range(second, types.Position(1, 1)), ""),
        types.TextDocumentContentChangePartial(types.Range(second, second), "新"),
        types.TextDocumentContentChangePartial(types.Range(first, first), "旧"),
    ]
    assert document("一\r二\n三").changed(changes, 2).text == "一旧\r\n新三"


def test_replacing_a_word_everywhere_does_not_index_the_text_each_time():
    def work(lines):
        everywhere = [
            types.TextDocumentContentChangePartial(
                types.Range(types.Position(line, 9), types.Position(line, 10)), "再"
            )
            for line in range(0, lines, 10)
        ]
        changed = document("这一行很平常，明天在见。\n" * lines).changed(everywhere, 2)
        assert changed.text.count("再见") == lines // 10

    assert_linear(work, 8_000)


def test_positions_in_one_endless_line_are_not_counted_from_its_beginning_each_time():
    def work(length):
        endless = document("中😀" * (length // 2))
        assert [endless.position(offset).character for offset in range(0, length, 100)] == [
            offset + offset // 2 for offset in range(0, length, 100)
        ]

    assert_linear(work, 400_000)


def test_a_range_that_ends_before_it_starts_inserts():
    backwards = types.Range(types.Position(0, 2), types.Position(0, 1))
    change = types.TextDocumentContentChangePartial(range=backwards, text="x")
    assert document("中文字").changed([change], 2).text == "中文x字"
