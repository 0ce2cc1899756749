from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from tests.text.strategies import texts

from nmspeller.errors import InputError
from nmspeller.lab.data.folder import data_folder
from nmspeller.text.vocabulary import Vocabulary

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SMALL = Vocabulary([*SPECIAL, "天", "气", "a", "B", "b", "。", "##气", "ab", "\u2028", "😀", "é"])


def test_ids_are_line_numbers(tmp_path: Path) -> None:
    file = tmp_path / "vocab.txt"
    file.write_bytes("\ufeff[PAD]\r\n[UNK]\n\u2028\n[CLS]\n[SEP]\n[MASK]\n天\n".encode())
    vocabulary = Vocabulary.from_file(file)
    assert (vocabulary.pad, vocabulary.unk, vocabulary.cls, vocabulary.sep, vocabulary.mask) == (
        0,
        1,
        3,
        4,
        5,
    )
    assert vocabulary.encode("天\u2028").tolist() == [6, 2]
    assert len(vocabulary) == len(vocabulary.tokens) == 7


def test_one_id_per_code_point() -> None:
    text = "天气a[MASK]ab##气👩‍🔬\ud800　Ａ\x00བོད😀"
    ids = SMALL.encode(text)
    assert ids.dtype == np.int32
    assert len(ids) == len(text)
    assert ids[:3].tolist() == [5, 6, 7]
    assert ids[-1] == SMALL.tokens.index("😀")
    assert set(ids.tolist()).isdisjoint({SMALL.pad, SMALL.cls, SMALL.sep, SMALL.mask})


def test_a_letter_is_its_lower_case_where_only_that_exists() -> None:
    assert SMALL.id("A") == SMALL.id("a")
    assert SMALL.id("É") == SMALL.id("é")
    assert SMALL.id("B") == 8
    assert SMALL.id("b") == 9


@pytest.mark.parametrize("what", ["", "ab", "[MASK]", "##气", "鬱", "\ud800"])
def test_what_is_not_one_known_character_is_unknown(what: str) -> None:
    assert SMALL.id(what) == SMALL.unk


def test_hanzi_are_marked() -> None:
    marked = [token for token, hanzi in zip(SMALL.tokens, SMALL.is_hanzi(), strict=True) if hanzi]
    assert marked == ["天", "气"]


def test_an_empty_text_has_no_ids() -> None:
    assert SMALL.encode("").tolist() == []


def test_a_missing_special_token_is_named(tmp_path: Path) -> None:
    file = tmp_path / "vocab.txt"
    file.write_text("[PAD]\n[UNK]\n[CLS]\n天\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"vocab.txt.*\[SEP\], \[MASK\]"):
        Vocabulary.from_file(file)


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        Vocabulary.from_file(tmp_path / "nowhere")
    file = tmp_path / "latin1.txt"
    file.write_bytes(b"[PAD]\n\xff\n")
    with pytest.raises(InputError, match="UTF-8"):
        Vocabulary.from_file(file)


def test_a_bert_vocabulary_with_word_pieces_loads() -> None:
    """Google's Chinese vocabulary is 21,128 lines: specials at 100, characters, then words and pieces."""
    unused = [f"[unused{number}]" for number in range(1, 100)]
    pieces = [f"##{chr(0x4E00 + number)}" for number in range(7000)]
    tokens = ["[PAD]", *unused, "[UNK]", "[CLS]", "[SEP]", "[MASK]", "天", "a", "the", *pieces]
    vocabulary = Vocabulary(tokens)
    assert (vocabulary.pad, vocabulary.unk, vocabulary.mask) == (0, 100, 103)
    assert vocabulary.encode("天A一the").tolist() == [104, 105, 100, 100, 100, 100]


def test_the_backbone_vocabulary_loads() -> None:
    try:
        file = data_folder().parent / "backbone" / "vocab.txt"
    except InputError as absent:
        pytest.skip(str(absent))
    if not file.exists():
        pytest.skip(f"no backbone at {file}")
    vocabulary = Vocabulary.from_file(file)
    assert len(vocabulary) == 8372
    assert all(vocabulary.id(token) == n for n, token in enumerate(vocabulary.tokens) if len(token) == 1)


@given(texts)
def test_ids_and_offsets_agree(text: str) -> None:
    ids = SMALL.encode(text)
    assert len(ids) == len(text)
    assert ids.tolist() == [SMALL.id(character) for character in text]
    for character, number in zip(text, ids.tolist(), strict=True):
        assert number == SMALL.unk or SMALL.tokens[number] in (character, character.lower())
