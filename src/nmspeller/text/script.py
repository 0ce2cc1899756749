"""Simplified and Traditional script: detection, and conversion that keeps offsets.

Models read Simplified characters. `simplify` converts a text character by character to one of the same
length, so that an offset into one is an offset into the other, and can convert replacements back to the
script of the source.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.windows import lines, sentences

if TYPE_CHECKING:
    import opencc

# How many characters on either side decide which Traditional character is meant.
_NEIGHBOURS = 16
_SIMPLIFIED_IN_SOME_WORDS = str.maketrans("著乾瞭藉徵夥餘覆", "着干了借征伙余复")
# OpenCC rejects lone surrogates, and takes a NUL for the end of the text.
_UNREADABLE = lazy_pattern("[\0\ud800-\udfff]")


class Script(Enum):
    """The script of a text; NEUTRAL if every character belongs to both."""

    SIMPLIFIED = "simplified"
    TRADITIONAL = "traditional"
    NEUTRAL = "neutral"


@cache
def _characters_of_one_script() -> tuple[frozenset[str], frozenset[str]]:
    """Characters that are only Traditional, and characters that are only Simplified."""
    table = Path(__file__).with_name("script_characters.txt").read_text("utf-8")
    traditional, simplified = table.splitlines()
    return frozenset(traditional), frozenset(simplified)


@cache
def _converter(name: str) -> "opencc.OpenCC":
    # Loaded on first use: most texts never need it.
    import opencc

    return opencc.OpenCC(name)


def detect(text: str) -> Script:
    """The script that most of the text's characters belong to; Simplified in a tie."""
    traditional, simplified = _characters_of_one_script()
    if traditional.isdisjoint(text):
        return Script.NEUTRAL if simplified.isdisjoint(text) else Script.SIMPLIFIED
    surplus = sum(map(traditional.__contains__, text)) - sum(map(simplified.__contains__, text))
    return Script.TRADITIONAL if surplus > 0 else Script.SIMPLIFIED


@dataclass(frozen=True)
class Simplified:
    """A text in Simplified characters, as long as `source`; `converted` are its Traditional sentences."""

    source: str
    text: str
    converted: tuple[tuple[int, int], ...]

    def part(self, start: int, stop: int) -> "Simplified":
        """The same of source[start:stop]."""
        converted = tuple(
            (max(first, start) - start, min(last, stop) - start)
            for first, last in self.converted
            if first < stop and last > start
        )
        return Simplified(self.source[start:stop], self.text[start:stop], converted)

    def to_source_script(self, index: int, target: str, corrected: str | None = None, length: int = 1) -> str:
        """`target`, which replaces `length` characters at `index`, in the script of the source's sentence.

        A Simplified character may correspond to several Traditional ones; its neighbours decide which.
        `corrected` is the text with other replacements of single characters applied, if there are any.
        """
        if target == self.text[index : index + length]:
            return self.source[index : index + length]
        before = bisect_right(self.converted, (index, len(self.text))) - 1
        if before < 0 or self.converted[before][1] < index + length:
            return target
        start, stop = self.converted[before]
        start, stop = max(start, index - _NEIGHBOURS), min(stop, index + length + _NEIGHBOURS)
        context = self.text if corrected is None else corrected
        in_context = context[start:index] + target + context[index + length : stop]
        converted = _convert(in_context, "s2tw")
        if len(converted) == len(in_context):
            return converted[index - start : index - start + len(target)]
        alone = _convert(target, "s2tw")
        return alone if len(alone) == len(target) else target


def simplify(text: str, document_script: Script = Script.NEUTRAL) -> Simplified:
    """Convert the Traditional sentences of a text; a sentence whose length would change is not converted.

    A sentence of neutral characters has the script of its line, a neutral line that of the text, and a
    neutral text the `document_script`. Single Traditional characters in other sentences are converted, too:
    the model reads 网络与網絡 as 网络与网络, but what it proposes there stays Simplified.
    """
    traditional, _ = _characters_of_one_script()
    if document_script is not Script.TRADITIONAL and traditional.isdisjoint(text):
        return Simplified(text, text, ())
    sentences: list[str] = []
    converted: list[tuple[int, int]] = []
    for start, stop, script in _sentences_with_script(text, document_script):
        sentence = text[start:stop]
        if script is Script.TRADITIONAL:
            simple = _convert(sentence, "t2s")
            if len(simple) == len(sentence):
                sentence = simple
                converted.append((start, stop))
        elif not traditional.isdisjoint(sentence):
            sentence = "".join(_simple(each) if each in traditional else each for each in sentence)
        sentences.append(sentence)
    return Simplified(text, "".join(sentences), tuple(converted))


def is_traditional(character: str) -> bool:
    """Whether a character belongs to Traditional script only."""
    return character in _characters_of_one_script()[0]


@cache
def _simple(character: str) -> str:
    """The Simplified form of one Traditional character."""
    simple = _convert(character, "t2s")
    return simple if len(simple) == 1 else character


def fold(text: str) -> str:
    """The text with those characters simplified that OpenCC simplifies only in some words."""
    return text.translate(_SIMPLIFIED_IN_SOME_WORDS)


def _sentences_with_script(text: str, document_script: Script) -> Iterator[tuple[int, int, Script]]:
    """The start, stop and script of each sentence."""
    of_text = _detect_or(text, document_script)
    for line_start, line_stop in lines(text):
        line = text[line_start:line_stop]
        of_line = _detect_or(line, of_text)
        for start, stop in sentences(line):
            yield line_start + start, line_start + stop, _detect_or(line[start:stop], of_line)


def _detect_or(text: str, document_script: Script) -> Script:
    """The text's script, or that of the document if the text is neutral."""
    script = detect(text)
    return document_script if script is Script.NEUTRAL else script


def _convert(text: str, converter: str) -> str:
    """OpenCC's conversion; characters that it cannot read are kept if the length does not change."""
    readable = _UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    converted = str(_converter(converter).convert(readable))
    if readable == text or len(converted) != len(text):
        return converted
    return "".join(old if _UNREADABLE.match(old) else new for old, new in zip(text, converted, strict=True))
