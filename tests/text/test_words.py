"""Finding the words of a list."""

import random

import pytest

from nmspeller.text.words import WordMatcher

# Their bytes look like one another, shifted by a byte too; some lie beyond the first plane or are half of
# such a character.
_CHARACTERS = "\u4e00\u004e\u4e4e\u004f\u4e20\u204e\u0061\u6100\U0001f600\U0002004e\ud83d\ude00"


@pytest.mark.parametrize("seed", range(20))
def test_finds_every_occurrence_and_nothing_else(seed: int) -> None:
    draw = random.Random(seed)

    def some(least: int, most: int) -> str:
        return "".join(draw.choices(_CHARACTERS, k=draw.randint(least, most)))

    for _ in range(200):
        words, text = {some(1, 3) for _ in range(4)}, some(0, 12)
        expected = [
            (start, start + len(word))
            for word in words
            for start in range(len(text))
            if text.startswith(word, start)
        ]
        assert sorted(WordMatcher(words).matches(text)) == sorted(expected)


def test_ranges_join_words_that_overlap() -> None:
    assert WordMatcher(["北京", "京大", "学"]).ranges("在北京大学里学") == [(1, 4), (4, 5), (6, 7)]
