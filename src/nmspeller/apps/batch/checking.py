"""Check texts, and repeated texts only once, as far as a bounded cache reaches."""

from collections import OrderedDict

from nmspeller.apps.batch.formats import BadRow
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.correction import Correction

# Longer texts are hardly ever repeated, and a bounded number of texts must mean bounded memory.
_CACHED_CHARACTERS = 512


class CachedChecker:
    """A speller with a cache of the last `capacity` different texts."""

    def __init__(self, speller: Checker, capacity: int) -> None:
        self._speller = speller
        self._capacity = capacity
        self._known: OrderedDict[str, Correction] = OrderedDict()

    def check(self, texts: list[str]) -> tuple[list[Correction | BadRow], int]:
        """The correction of each text, or why there is none; and how many came from the cache."""
        if not self._capacity:
            return self._check_all(texts), 0
        answers: dict[str, Correction | BadRow] = {}
        for text in texts:
            if text in self._known:
                self._known.move_to_end(text)
                answers[text] = self._known[text]
        unknown = list(dict.fromkeys(text for text in texts if text not in answers))
        for text, answer in zip(unknown, self._check_all(unknown), strict=True):
            answers[text] = answer
            if isinstance(answer, Correction) and len(text) <= _CACHED_CHARACTERS:
                self._known[text] = answer
                if len(self._known) > self._capacity:
                    self._known.popitem(last=False)
        return [answers[text] for text in texts], len(texts) - len(unknown)

    def _check_all(self, texts: list[str]) -> list[Correction | BadRow]:
        try:
            return [*self._speller.check_many(texts)] if texts else []
        except Exception:
            # One text may fail the whole batch; the others are still to be corrected.
            return [self._check_alone(text) for text in texts]

    def _check_alone(self, text: str) -> Correction | BadRow:
        try:
            return self._speller.check_many([text])[0]
        except Exception as error:
            return BadRow(f"the speller failed: {type(error).__name__}: {error}")
