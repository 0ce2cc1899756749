"""INTERIM stand-ins for text/, to be deleted as soon as that room is there."""

import hashlib
import re
from typing import Any, NamedTuple

import numpy as np


def file_hash(path: Any) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class _Vocabulary:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tuple(tokens)
        self._ids = {t: i for i, t in enumerate(tokens)}
        self.pad, self.unk, self.cls, self.sep, self.mask = (
            self._ids[t] for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
        )

    @classmethod
    def from_file(cls, path: Any) -> "_Vocabulary":
        return cls(path.read_text("utf-8").rstrip("\n").split("\n"))

    def __len__(self) -> int:
        return len(self.tokens)

    def id(self, character: str) -> int:
        return self._ids.get(character, self.unk)

    def encode(self, text: str) -> Any:
        return np.array([self._ids.get(c, self.unk) for c in text], np.int32)

    def is_hanzi(self) -> Any:
        return np.array([len(t) == 1 and "㐀" <= t <= "鿿" for t in self.tokens])


class _Window(NamedTuple):
    start: int
    stop: int
    keep_start: int
    keep_stop: int


def _split(text: str, limit: int) -> list[_Window]:
    return [
        _Window(i, min(i + limit, len(text)), i, min(i + limit, len(text))) for i in range(0, len(text), limit)
    ]


class _Span(NamedTuple):
    start: int
    stop: int
    kind: str


class _WordMatcher:
    def __init__(self, words: Any) -> None:
        self.words = list(words)


def _protected_spans(text: str, words: Any = None) -> list[_Span]:
    found = []
    for word in words.words if words else ():
        found += [_Span(m.start(), m.end(), "word") for m in re.finditer(re.escape(word), text)]
    return found


class _Simplified:
    def __init__(self, text: str) -> None:
        self.text = text

    def back(self, index: int, target: str) -> str:
        return target


try:
    from nmspeller.text.protect import WordMatcher, protected_spans
    from nmspeller.text.script import simplify
    from nmspeller.text.vocabulary import Vocabulary
    from nmspeller.text.windows import split
except ImportError:
    Vocabulary, WordMatcher = _Vocabulary, _WordMatcher
    protected_spans, simplify, split = _protected_spans, _Simplified, _split
