"""Regular expressions that are compiled when they are first used.

Python takes milliseconds to compile a class of all Chinese characters, and a text needs few of the patterns.
"""

import re
from collections.abc import Iterator
from functools import cached_property


class LazyPattern:
    """Does what `re.compile(pattern)` does, later."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._pattern)

    def search(self, text: str, start: int = 0, stop: int | None = None) -> re.Match[str] | None:
        """The first match in text[start:stop]."""
        return self._compiled.search(text, start, len(text) if stop is None else stop)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The match that begins at `start`."""
        return self._compiled.match(text, start)

    def finditer(self, text: str, start: int = 0, stop: int | None = None) -> Iterator[re.Match[str]]:
        """The matches in text[start:stop], in order and disjoint."""
        return self._compiled.finditer(text, start, len(text) if stop is None else stop)

    def sub(self, replacement: str, text: str) -> str:
        """The text with every match replaced."""
        return self._compiled.sub(replacement, text)
