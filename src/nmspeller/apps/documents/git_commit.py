"""The prose of a git commit message: neither comments nor the diff that `git commit --verbose` shows."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents.markup import Markup
from nmspeller.text.patterns import lazy_pattern

FILE_NAMES = frozenset(("COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG"))
"""What git calls the files in which it lets people edit a message."""

_SCISSORS = lazy_pattern(r"^# -+ >8 -+[ \t]*$", re.MULTILINE)
_COMMENT = lazy_pattern(r"^#.*", re.MULTILINE)


def scan(text: str) -> Iterator[Markup]:
    """Lines that begin with `#`, and everything below the scissors line."""
    scissors = _SCISSORS.search(text.replace("\r", "\n"))
    end = scissors.start() if scissors else len(text)
    yield from (Markup(*found.span()) for found in _COMMENT.finditer(text, 0, end))
    yield Markup(end, len(text))
