from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import assert_linear
from tests.text.strategies import texts

from nmspeller.text.windows import LEAST, Window, sentences, split

SENTENCE = "今天天气很好，我们去公园走一走。"


def kept(text: str, limit: int) -> list[str]:
    return [text[window.keep_start : window.keep_stop] for window in split(text, limit)]


@given(texts, st.integers(1, 40))
def test_every_character_is_kept_once_and_no_window_is_too_long(text: str, limit: int) -> None:
    windows = split(text, limit)
    assert "".join(text[window.keep_start : window.keep_stop] for window in windows) == text
    assert [window.keep_start for window in windows[1:]] == [window.keep_stop for window in windows[:-1]]
    for window in windows:
        assert 0 <= window.start <= window.keep_start < window.keep_stop <= window.stop <= len(text)
        assert window.stop - window.start <= limit


@given(texts)
def test_sentences_cover_the_text(text: str) -> None:
    found = sentences(text)
    assert "".join(text[start:stop] for start, stop in found) == text
    assert all(start < stop for start, stop in found)
    assert all(before[1] == after[0] for before, after in pairwise(found))


@given(texts, texts, st.integers(1, 40))
def test_a_line_is_cut_the_same_whatever_follows_it(line: str, rest: str, limit: int) -> None:
    line = "".join(character for character in line if not character.isspace()) + "\n"
    rest = rest.lstrip("\n\r\v\f\x85\u2028\u2029")
    alone = split(line, limit)
    assert split(line + rest, limit)[: len(alone)] == alone


def test_an_empty_text_has_no_windows() -> None:
    assert split("", 10) == []


def test_a_window_must_hold_something() -> None:
    with pytest.raises(ValueError, match="at least one character"):
        split("字", 0)


def test_a_sentence_that_fits_is_one_window() -> None:
    text = SENTENCE.replace("。", "，") * 5 + SENTENCE
    assert split(text, len(text)) == [Window(0, len(text), 0, len(text))]


def test_a_window_holds_sentences_until_it_is_long_enough() -> None:
    enough = -(-LEAST // len(SENTENCE))
    assert kept(SENTENCE * 2 * enough, 1000) == [SENTENCE * enough] * 2


def test_the_last_sentences_of_a_line_that_are_too_few_belong_to_the_window_before() -> None:
    enough = -(-LEAST // len(SENTENCE))
    assert kept(SENTENCE * (enough + 1) + "\n好。", 1000) == [SENTENCE * (enough + 1) + "\n", "好。"]


def test_windows_are_no_longer_than_the_limit_however_short_the_next_sentence() -> None:
    assert kept(SENTENCE * 3, len(SENTENCE) * 2) == [SENTENCE * 2, SENTENCE]


def test_lines_do_not_share_a_window() -> None:
    assert kept("第一行。\n\n第二行\r\n第三行", 100) == ["第一行。\n\n", "第二行\r\n", "第三行"]


def test_a_long_line_is_cut_at_sentence_ends_after_closing_quotes() -> None:
    assert kept("他说：“我来了！”她笑了。真好……走吧", 12) == ["他说：“我来了！”", "她笑了。真好……走吧"]


def test_a_long_sentence_is_handed_over_at_a_clause_with_context_on_both_sides() -> None:
    text = "一二三四五六七八九十，甲乙丙丁戊己庚辛壬癸子丑寅。"
    first, second = split(text, 16)
    assert text[first.keep_start : first.keep_stop] == "一二三四五六七八九十，"
    assert first.stop - first.keep_stop >= 2
    assert second.keep_start - second.start >= 2


def test_without_clauses_windows_overlap() -> None:
    windows = split("字" * 1000, 64)
    for window, following in pairwise(windows):
        assert window.stop - window.keep_stop >= 8
        assert following.keep_start - following.start >= 8
    assert windows[-1].stop - windows[-1].start == 64


@pytest.mark.parametrize("unit", [SENTENCE, "字", "字，", "。", "\n", "一行字\n", "a!", "（"])
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    def work(length: int) -> None:
        windows = split((unit * (length // len(unit) + 1))[:length], 128)
        assert windows[-1].keep_stop == length

    assert_linear(work, 200_000)
