"""Correct sentences that no training saw: news, articles and essays of the held-out part of the corpus.

    python benchmarks/clean_text.py PREPARED OUT

PREPARED is what `nmspeller data prepare` wrote. Writes OUT/clean0.txt, on which `nmspeller export --clean`
chooses thresholds, and OUT/clean1.txt, on which `benchmarks/accuracy.py --clean` measures. The corpus has no
labels, so a paragraph counts as such prose by its look alone: at least 100 characters, nothing but Chinese
characters, digits and full-width marks, no speech and none of the words that only speech has.

No corpus is free of mistakes. Sentences that were read by a person and have one are listed, as hashes, in
benchmarks/mistakes_in_corpus.txt; they are left out of clean0.txt, and accuracy.py counts them apart.
"""

import argparse
import hashlib
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from nmspeller.data.corpus import LINE_END
from nmspeller.data.prepared import Prepared

MISTAKES = Path(__file__).with_name("mistakes_in_corpus.txt")

_LEAST_CHARACTERS = 100
_PROSE = re.compile(r"[\u4e00-\u9fff，。；：、！？（）《》—…％０-９0-9.·]+[。！？]")
_SPEECH = re.compile("[你您妳哦呢啊吧吗嘛呀咯俺咱]")
_SENTENCE = re.compile(r"[^。！？]+[。！？]+）*")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("prepared", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    found = sentences(Prepared(options.prepared))
    options.out.mkdir(parents=True, exist_ok=True)
    halves = [sentence for sentence in found[0::2] if not has_mistake(sentence)], found[1::2]
    for number, half in enumerate(halves):
        path = options.out / f"clean{number}.txt"
        path.write_text("".join(f"{sentence}\n" for sentence in half), "utf-8")
        print(path, len(half))


def sentences(prepared: Prepared) -> list[str]:
    """Every sentence of 12 to 100 characters of such prose once, in an order that is always the same."""
    found = {
        sentence
        for paragraph in paragraphs(prepared)
        if _PROSE.fullmatch(paragraph) and not _SPEECH.search(paragraph)
        for sentence in _SENTENCE.findall(paragraph)
        if 12 <= len(sentence) <= 100
    }
    return random.Random(0).sample(sorted(found), len(found))


def paragraphs(prepared: Prepared) -> Iterator[str]:
    """The held-out paragraphs that are long enough and have no unknown character."""
    ids, tokens = prepared.corpus("heldout"), prepared.vocabulary.tokens
    for paragraph in np.split(ids, np.flatnonzero(ids == LINE_END)):
        paragraph = paragraph[paragraph != LINE_END]
        if len(paragraph) >= _LEAST_CHARACTERS and prepared.vocabulary.unk not in paragraph:
            yield "".join(tokens[number] for number in paragraph)


def has_mistake(sentence: str) -> bool:
    """Whether a person has found a mistake in this sentence."""
    return _digest(sentence) in _known_mistakes()


@cache
def _known_mistakes() -> frozenset[str]:
    return frozenset(MISTAKES.read_text("utf-8").split())


def _digest(sentence: str) -> str:
    return hashlib.sha256(sentence.encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
