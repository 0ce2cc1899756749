"""Check texts, each different one once as far as a bounded memory reaches."""

from collections import OrderedDict
from typing import Any

from nmspeller.apps.batch.formats import BadRow
from nmspeller.runtime.correction import Correction

# Beyond this a text is hardly ever repeated, and a bounded number of texts must mean bounded memory.
_REMEMBERED_CHARACTERS = 512


class Checker:
    """A speller that remembers the last `cache` different texts."""

    def __init__(self, speller: Any, cache: int) -> None:
        self._speller = speller
        self._capacity = cache
        self._known: OrderedDict[str, Correction] = OrderedDict()

    def check(self, texts: list[str]) -> tuple[list[Correction | BadRow], int]:
        """What the speller says of each text, or why it could not; and how many were answered from memory."""
        if not self._capacity:
            return self._ask(texts), 0
        answers: dict[str, Correction | BadRow] = {}
        for text in texts:
            if text in self._known:
                self._known.move_to_end(text)
                answers[text] = self._known[text]
        unknown = list(dict.fromkeys(text for text in texts if text not in answers))
        for text, answer in zip(unknown, self._ask(unknown), strict=True):
            answers[text] = answer
            if isinstance(answer, Correction) and len(text) <= _REMEMBERED_CHARACTERS:
                self._known[text] = answer
                if len(self._known) > self._capacity:
                    self._known.popitem(last=False)
        return [answers[text] for text in texts], len(texts) - len(unknown)

    def _ask(self, texts: list[str]) -> list[Correction | BadRow]:
        try:
            return list(self._speller.check_many(texts)) if texts else []
        except Exception:
            # One text spoils the batch: find it, and let the others through.
            return [self._ask_alone(text) for text in texts]

    def _ask_alone(self, text: str) -> Correction | BadRow:
        try:
            answer: Correction = self._speller.check(text)
            return answer
        except Exception as wrong:
            return BadRow(f"the speller failed: {type(wrong).__name__}: {wrong}")
