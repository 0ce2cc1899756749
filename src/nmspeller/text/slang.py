"""Words that people misspell on purpose, as 泰裤辣 for 太酷啦: a speller that mends them spoils the joke."""

from functools import cache
from pathlib import Path

from nmspeller.text.words import WordMatcher


def slang_ranges(text: str) -> list[tuple[int, int]]:
    """The start and stop of every such word, in order."""
    return _matcher().ranges(text)


@cache
def _matcher() -> WordMatcher:
    lines = Path(__file__).with_name("slang.txt").read_text("utf-8").splitlines()
    return WordMatcher(word for line in lines if not line.startswith("#") for word in line.split())
