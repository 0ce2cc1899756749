import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmspeller.knowledge import pinyin
from nmspeller.knowledge.pinyin import Syllable
from nmspeller.knowledge.sounds import PARTS_OF_FINALS, initial_similarity, syllable_similarity


@pytest.mark.parametrize(
    ("character", "reading"),
    [
        ("中", Syllable("zh", "ong", 1)),
        ("约", Syllable("", "ve", 1)),
        ("流", Syllable("l", "iou", 2)),
        ("论", Syllable("l", "uen", 4)),
        ("吗", Syllable("m", "a", 5)),
        ("女", Syllable("n", "v", 3)),
        ("漢", Syllable("h", "an", 4)),
        ("〇", Syllable("l", "ing", 2)),
    ],
)
def test_the_most_common_reading_comes_first(character: str, reading: Syllable) -> None:
    assert pinyin.readings(character)[0] == reading


def test_heteronyms_are_all_there() -> None:
    assert {Syllable("x", "ing", 2), Syllable("h", "ang", 2)} <= set(pinyin.readings("行"))
    assert {Syllable("d", "e", 5), Syllable("d", "i", 4)} <= set(pinyin.readings("的"))


@pytest.mark.parametrize("other", ["", "a", "。", "ab", "😀", "\ud800"])
def test_what_is_no_hanzi_has_no_sound(other: str) -> None:
    assert pinyin.readings(other) == ()
    assert pinyin.similarity(other, "天") == 0


def test_same_sound_and_tone_is_one() -> None:
    assert pinyin.similarity("在", "再") == 1
    assert pinyin.similarity("天", "天") == 1


@pytest.mark.parametrize("pair", ["只资", "吃次", "是四", "难兰", "飞灰", "软卵", "民明", "真争", "单当"])
def test_classic_confusions_sound_alike(pair: str) -> None:
    assert 0.6 < pinyin.similarity(*pair) < 1
    assert pinyin.similarity(*pair) > pinyin.similarity(pair[0], "跑")


def test_a_different_tone_matters_less_than_a_different_sound() -> None:
    assert 1 > pinyin.similarity("妈", "马") > pinyin.similarity("妈", "那")


def test_the_vowel_of_zhi_is_not_that_of_ji() -> None:
    assert syllable_similarity(Syllable("zh", "i", 1), Syllable("z", "i", 1)) == initial_similarity("zh", "z")
    assert syllable_similarity(Syllable("zh", "i", 1), Syllable("j", "i", 1)) < initial_similarity("zh", "j")


syllables = st.builds(
    Syllable,
    st.sampled_from(["", *"bpmfdtnlgkhjqxrzcs", "zh", "ch", "sh"]),
    st.sampled_from([final for final in PARTS_OF_FINALS if final != "ii"]),
    st.integers(1, 5),
)


@given(syllables, syllables)
def test_similarity_is_symmetric_and_bounded(a: Syllable, b: Syllable) -> None:
    assert 0 < syllable_similarity(a, b) <= 1
    assert syllable_similarity(a, b) == syllable_similarity(b, a)
    assert (syllable_similarity(a, b) == 1) == (a == b)


def test_the_matrix_agrees_with_single_pairs() -> None:
    """Where all readings are common; a rare reading counts less in the matrix."""
    characters = "天田在再四士民铭飞灰x"
    matrix = pinyin.similarity_matrix(characters, characters)
    singles = np.array([[pinyin.similarity(a, b) for b in characters] for a in characters])
    np.testing.assert_allclose(matrix, singles, atol=1e-6)


def test_a_reading_that_no_word_uses_counts_less() -> None:
    assert pinyin.similarity("吃", "期") == 1
    assert pinyin.similarity_matrix("吃", "期")[0, 0] < 0.7


@pytest.mark.parametrize(
    ("character", "written"),
    [
        ("约", "yuē"),
        ("知", "zhī"),
        ("吗", "ma"),
        ("绿", "lǜ"),
        ("略", "lüè"),
        ("军", "jūn"),
        ("牛", "niú"),
        ("贵", "guì"),
        ("论", "lùn"),
        ("翁", "wēng"),
        ("欧", "ōu"),
        ("秋", "qiū"),
        ("用", "yòng"),
        ("衣", "yī"),
        ("王", "wáng"),
    ],
)
def test_spelling(character: str, written: str) -> None:
    assert pinyin.spelling(pinyin.readings(character)[0]) == written


def test_common_readings_leave_out_old_ones() -> None:
    assert [pinyin.spelling(syllable) for syllable in pinyin.common_readings("泛")] == ["fàn"]
    assert len(pinyin.readings("泛")) > 1
    assert pinyin.common_readings("a") == ()
