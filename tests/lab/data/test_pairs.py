"""Pairs survive the file, and what is no pair is named with its line and reason."""

import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmspeller.errors import InputError
from nmspeller.lab.data.pairs import Pair, read_pairs, write_pairs

sentence = st.text(
    st.characters(exclude_characters="\t\r\n", exclude_categories=["Cs"]), min_size=1, max_size=20
)


@st.composite
def pair(draw):
    source = draw(sentence)
    characters = [draw(st.sampled_from([c, "的", "\u2028", "𠮷"])) for c in source]
    return Pair(source, "".join(characters))


@settings(deadline=None)
@given(st.lists(pair(), max_size=6))
def test_written_pairs_are_read_back(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    write_pairs(path, pairs)
    assert read_pairs(path) == pairs


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_byte_order_marks_and_line_ends_are_not_text(tmp_path, bom, end, last):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(bom + end.join(["我在家\t我在家".encode(), "再 家\t在 家".encode()]) + end * last)
    assert read_pairs(path) == [("我在家", "我在家"), ("再 家", "在 家")]


def test_white_space_belongs_to_the_sentence(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(" 他再家 \t 他在家 \n", encoding="utf-8")
    assert read_pairs(path) == [(" 他再家 ", " 他在家 ")]


BAD = {
    "他再家\t他在家里".encode(): "3 characters and the target 4",
    "他再家 \t他在家".encode(): "4 characters and the target 3",
    "他再家".encode(): "1 field",
    "他\t她\t它".encode(): "3 field",
    b"": "empty",
    b"\t": "empty",
    b"ab\xff\tabc": "byte 3 is not UTF-8",
}


@pytest.mark.parametrize(("line", "reason"), BAD.items())
def test_a_bad_line_is_reported(tmp_path, line, reason):
    path = tmp_path / "bad.tsv"
    path.write_bytes(b"a\tb\n" + line + b"\nc\td\n")
    with pytest.raises(InputError) as wrong:
        read_pairs(path)
    assert f"{path}, line 2: " in str(wrong.value)
    assert reason in str(wrong.value)


def test_a_lenient_read_counts_what_it_skips(tmp_path, caplog):
    path = tmp_path / "bad.tsv"
    path.write_bytes(b"a\tb\n" + b"\n".join(BAD) + b"\nc\td\n")
    with caplog.at_level(logging.WARNING):
        pairs = read_pairs(path, lenient=True)
    assert pairs == [("a", "b"), ("c", "d")]
    assert [bad.line for bad in pairs.skipped] == list(range(2, 2 + len(BAD)))
    assert all(reason in bad.reason for reason, bad in zip(BAD.values(), pairs.skipped, strict=True))
    assert f"{len(BAD)} bad line(s) skipped" in caplog.text


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_pairs(tmp_path / "nothing.tsv")
    with pytest.raises(InputError, match="cannot be read"):
        read_pairs(tmp_path)


@pytest.mark.parametrize(
    "pair", [("a\tb", "abc"), ("a\n", "ab"), ("a\r", "ab"), ("a", "ab"), ("", ""), ("\ud800", "a")]
)
def test_a_pair_that_the_format_cannot_represent_is_an_error_and_no_file_is_left(tmp_path, pair):
    path = tmp_path / "pairs.tsv"
    with pytest.raises(InputError, match=r"(pair|line) 2"):
        write_pairs(path, [("a", "b"), pair])
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "pairs.tsv"
    write_pairs(path, [("a", "b")])

    def broken():
        yield "c", "d"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_pairs(path, broken())
    assert read_pairs(path) == [("a", "b")]
