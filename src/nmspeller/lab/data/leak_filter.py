"""Evaluation sentences, and clauses of them, must not be in training text: find those that are.

A training text leaks if, apart from blanks, case and compatibility forms, it equals an evaluation sentence,
or contains a clause of ten or more characters of one. A clause is the text between two punctuation marks.
"""

import re
import unicodedata
from collections.abc import Iterable

from nmspeller.lab.data.datasets import DataTable
from nmspeller.lab.data.pairs import read_pairs

CLAUSE_LENGTH = 10
_BLOCK = CLAUSE_LENGTH // 2
_FULL_WIDTH = "，！？：；（）"


class LeakFilter:
    """Finds the training texts that leak evaluation sentences."""

    def __init__(self, evaluation_texts: Iterable[str]) -> None:
        self._sentences: set[str] = set()
        # Clauses by their first characters: a window of that length slides over the text.
        self._clauses: dict[str, list[str]] = {}
        # A text is split into blocks; wherever a clause begins in it, one block is part of that beginning.
        # Most texts share no block with any clause, and need no window.
        self._blocks: set[str] = set()
        for text in evaluation_texts:
            sentence = _normal(text)
            if sentence and sentence not in self._sentences:
                self._sentences.add(sentence)
                for clause in _long_clauses(sentence):
                    self._clauses.setdefault(clause[:CLAUSE_LENGTH], []).append(clause)
                    self._blocks.update(clause[start : start + _BLOCK] for start in range(_BLOCK))

    def find(self, text: str) -> str | None:
        """The first evaluation sentence or clause in a training text, in normal form, if there is one."""
        text = _normal(text)
        if text in self._sentences:
            return text
        if self._blocks.isdisjoint([text[start : start + _BLOCK] for start in range(0, len(text), _BLOCK)]):
            return None
        for start in range(len(text) - CLAUSE_LENGTH + 1):
            for clause in self._clauses.get(text[start : start + CLAUSE_LENGTH], ()):
                if text.startswith(clause, start):
                    return clause
        return None

    def leaks(self, text: str) -> bool:
        """Whether a training text must be left out."""
        return self.find(text) is not None


def evaluation_sentences(table: DataTable) -> list[str]:
    """Both sides of every evaluation set that is there, and of its copies, each sentence once."""
    sentences: dict[str, None] = {}
    for one in table.values():
        if one.is_measured:
            for file in (*one.files, *one.same_text):
                if (table.folder / file).exists():
                    for pair in read_pairs(table.folder / file):
                        sentences.update(dict.fromkeys(pair))
    return list(sentences)


def _long_clauses(sentence: str) -> list[str]:
    clauses = re.split(r"[\W_]+", sentence)
    # A long Latin word or number is not a clause.
    return [clause for clause in clauses if len(clause) >= CLAUSE_LENGTH and not clause.isascii()]


def _normal(text: str) -> str:
    # Text in normal form is normalised fast, and punctuation is all that mostly keeps it from being so.
    for mark in _FULL_WIDTH:
        text = text.replace(mark, unicodedata.normalize("NFKC", mark))
    return "".join(unicodedata.normalize("NFKC", text).lower().split())
