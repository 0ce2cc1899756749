"""Simplified or Traditional: tell them apart, and lend a Traditional text a Simplified face.

Models read Simplified characters. `simplify` gives a text of the same length, character by character, so that
an offset into one is an offset into the other, and turns replacements back into the source's own script.
"""

from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from nmspeller.text.windows import sentences

if TYPE_CHECKING:
    import opencc


class Script(Enum):
    """How a text is written; NEUTRAL where every character is at home in both scripts."""

    SIMPLIFIED = "simplified"
    TRADITIONAL = "traditional"
    NEUTRAL = "neutral"


@cache
def _characters_of_one_script() -> tuple[frozenset[str], frozenset[str]]:
    """Characters that are only Traditional, and characters that are only Simplified."""
    table = resources.files("nmspeller.text").joinpath("script_characters.txt").read_text("utf-8")
    traditional, simplified = table.splitlines()
    return frozenset(traditional), frozenset(simplified)


@cache
def _converter(name: str) -> "opencc.OpenCC":
    # Loaded on first use: most texts never need it.
    import opencc

    return opencc.OpenCC(name)


def detect(text: str) -> Script:
    """The script that more of the text's characters belong to; Simplified where as many belong to either."""
    traditional, simplified = _characters_of_one_script()
    if traditional.isdisjoint(text):
        return Script.NEUTRAL if simplified.isdisjoint(text) else Script.SIMPLIFIED
    surplus = sum(map(traditional.__contains__, text)) - sum(map(simplified.__contains__, text))
    return Script.TRADITIONAL if surplus > 0 else Script.SIMPLIFIED


@dataclass(frozen=True)
class Simplified:
    """A text with its Traditional sentences in Simplified characters; `text` is as long as `source`."""

    source: str
    text: str
    converted: tuple[tuple[int, int], ...]

    def back(self, index: int, target: str) -> str:
        """The replacement `target` for the character at `index`, in the script of the source's sentence.

        A Simplified character may stand for several Traditional ones; its sentence decides which.
        """
        if target == self.text[index]:
            return self.source[index]
        before = bisect_right(self.converted, (index, len(self.text))) - 1
        if before < 0 or self.converted[before][1] <= index:
            return target
        start, stop = self.converted[before]
        corrected = self.text[start:index] + target + self.text[index + 1 : stop]
        sentence = _convert(corrected, "s2tw")
        if len(sentence) == len(corrected):
            return sentence[index - start : index - start + len(target)]
        alone = _convert(target, "s2tw")
        return alone if len(alone) == len(target) else target


def simplify(text: str) -> Simplified:
    """Convert the Traditional sentences of a text; a sentence whose length would change stays as it is."""
    traditional, _ = _characters_of_one_script()
    if traditional.isdisjoint(text):
        return Simplified(text, text, ())
    pieces: list[str] = []
    converted: list[tuple[int, int]] = []
    for start, stop in sentences(text):
        sentence = text[start:stop]
        if detect(sentence) is Script.TRADITIONAL:
            simple = _convert(sentence, "t2s")
            if len(simple) == len(sentence):
                sentence = simple
                converted.append((start, stop))
        pieces.append(sentence)
    return Simplified(text, "".join(pieces), tuple(converted))


def _convert(text: str, converter: str) -> str:
    """OpenCC's conversion; what UTF-8 cannot hold, a lone surrogate, is left as it is."""
    try:
        return str(_converter(converter).convert(text))
    except UnicodeEncodeError:
        return text
