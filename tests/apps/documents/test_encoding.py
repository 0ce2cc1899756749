"""Telling encodings apart, and writing files back as they were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmspeller.apps.documents.encoding import decode
from nmspeller.errors import InputError

SIMPLIFIED = "今天下午我们去图书馆看书，晚上回家吃饭。价格是 12 元。"
TRADITIONAL = "今天下午我們去圖書館看書，晚上回家吃飯。價格是 12 元。"


def is_utf8(raw):
    """A few characters of GB18030 may be valid UTF-8 by chance, and UTF-8 then wins."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("length", [2, 3, 4, 8, len(SIMPLIFIED)])
def test_simplified_text_in_gb18030(length):
    for at in range(len(SIMPLIFIED) - length + 1):
        piece = SIMPLIFIED[at : at + length]
        raw = piece.encode("gb18030")
        if not is_utf8(raw):
            assert decode(raw, "a")[0] == piece


@pytest.mark.parametrize("length", [4, 8, len(TRADITIONAL)])
def test_traditional_text_in_big5(length):
    for at in range(len(TRADITIONAL) - length + 1):
        piece = TRADITIONAL[at : at + length]
        assert decode(piece.encode("big5"), "a")[0] == piece


def test_traditional_text_in_gb18030():
    assert decode(TRADITIONAL.encode("gb18030"), "a")[0] == TRADITIONAL


def test_big5_as_windows_writes_it():
    text = "我們在恒春的旅館，裏面很乾淨，一共 5€。"
    assert decode(text.encode("cp950"), "a")[0] == text


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "big5"])
def test_bytes_come_back_the_same(codec):
    raw = TRADITIONAL.encode(codec)
    text, encoding = decode(raw, "a")
    assert text == TRADITIONAL
    assert encoding.encode(text, "a") == raw


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_utf8_text_comes_back_the_same(text):
    raw = text.encode()
    decoded, encoding = decode(raw, "a")
    assert encoding.encode(decoded, "a") == raw


@given(st.binary(max_size=60))
def test_any_bytes_are_decoded_reversibly_or_rejected(raw):
    try:
        text, encoding = decode(raw, "a")
    except InputError:
        return
    assert encoding.encode(text, "a") == raw


def test_a_named_encoding_is_taken_at_its_word():
    raw = "中文".encode("big5")
    assert decode(raw, "a", "big5")[0] == "中文"
    with pytest.raises(InputError, match=r"a: byte 0 \(0xa4\) is not UTF-8"):
        decode(raw, "a", "utf-8")


@pytest.mark.parametrize(("text", "codec"), [(SIMPLIFIED, "gb18030"), (TRADITIONAL, "big5")])
def test_chinese_after_much_that_is_ascii(text, codec):
    text = "a" * 100_000 + text
    assert decode(text.encode(codec), "a")[0] == text


@pytest.mark.parametrize("asked", ["auto", "gb18030"])
def test_the_byte_order_mark_of_gb18030_is_no_text(asked):
    raw = ("\ufeff" + SIMPLIFIED).encode("gb18030")
    text, encoding = decode(raw, "a", asked)
    assert text == SIMPLIFIED
    assert encoding.encode(text, "a") == raw


def test_utf8_that_is_said_to_be_utf16_is_named_as_what_it_is():
    with pytest.raises(InputError, match=r"^a is UTF-8, not UTF-16\.$"):
        decode(SIMPLIFIED.encode(), "a", "utf-16")


def test_utf16_without_a_byte_order_mark_stays_without():
    raw = SIMPLIFIED.encode("utf-16-le")
    text, encoding = decode(raw, "a", "utf-16")
    assert text == SIMPLIFIED
    assert encoding.encode(text, "a") == raw


@pytest.mark.parametrize("at", [0, 30, 60])
def test_one_wrong_byte_in_utf8_is_not_taken_for_another_encoding(at):
    raw = bytearray(SIMPLIFIED.encode())
    raw[at] = 0xFF
    with pytest.raises(InputError, match=f"byte {at} \\(0xff\\)"):
        decode(bytes(raw), "a")
