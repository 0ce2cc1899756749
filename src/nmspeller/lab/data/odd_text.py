"""Sentences of our own that look wrong and are right: slang, lists of similar characters, play with sounds.

Slang words are put into clauses that suit their kind, with other clauses around them, so that a speller meets
each in many contexts. Lists and play are made of the characters that are confused with each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

_FOLDER = Path(__file__).with_name("odd_phrases")
_SLANG = ("judgements", "people_and_things", "doings")


def _phrases(name: str) -> list[str]:
    return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def slang_sentences(seed: int) -> Iterator[str]:
    """Endless sentences with a slang word each, all words equally often."""
    random = np.random.default_rng((seed, 11))
    clauses_of = {kind: _phrases(f"{kind}_clauses") for kind in _SLANG}
    words = [(word, clauses_of[kind]) for kind in _SLANG for word in _phrases(kind)]
    openings, closings = _phrases("openings"), _phrases("closings")
    while True:
        for number in random.permutation(len(words)):
            word, clauses = words[number]
            parts = [_pick(clauses, random).format(word)]
            if random.random() < 0.6:
                parts.insert(0, _pick(openings, random))
            ending = _pick(closings, random) if random.random() < 0.6 else ""
            yield "，".join(parts) + (f"，{ending}" if ending else _pick("。！～", random))


def lists_and_play(similar: Mapping[str, Sequence[str]], seed: int) -> Iterator[str]:
    """Endless lists of characters that are confused with each other, and tongue-twisters between.

    similar: the characters that each is confused with.
    """
    random = np.random.default_rng((seed, 12))
    play, lists = _phrases("play"), _phrases("lists")
    characters = [each for each, others in similar.items() if len(others) > 3]
    while True:
        if random.random() < 0.15:
            yield _pick(play, random) + _pick(
                ("。", "！", "，你能念快一点吗？", "，这句话很有意思。", ""), random
            )
            continue
        own = characters[random.integers(len(characters))]
        others = random.permutation(np.array(similar[own][:12]))[: random.integers(2, 6)].tolist()
        listed = random.permutation(np.array([own, *others])).tolist()
        text = _pick(("、", "、", "，", " ", ""), random).join(listed)
        yield _pick(lists, random).format(text) if random.random() < 0.75 else text


def _pick(choices: Sequence[str], random: np.random.Generator) -> str:
    return choices[int(random.integers(len(choices)))]
