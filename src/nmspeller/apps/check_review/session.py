"""What the dialogues about the files of one review share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nmspeller.apps.check_review.keyboard import Keyboard
from nmspeller.apps.check_review.screen import Screen
from nmspeller.apps.check_review.search import Search
from nmspeller.apps.documents.document import Document
from nmspeller.errors import InputError
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.findings import Edit, Hint


@dataclass(frozen=True)
class ToReview:
    """A file: how to read it, to get its speller and to write it, and which of its edits and hints are new.

    `write` takes the document, the edits and the bytes that were read; it returns the new content and a
    sentence about it.
    """

    path: Path
    load: Callable[[], tuple[Document, bytes]]
    speller: Callable[[], Checker]
    level: str | None
    wanted: Callable[[Document, Sequence[Edit]], Sequence[Edit]]
    doubted: Callable[[Document, Sequence[Hint]], Sequence[Hint]]
    write: Callable[[Document, Sequence[Edit], bytes], tuple[bytes, str]]


class Quit(Exception):
    """The user goes on later."""


@dataclass
class Session:
    """One call of the command; `asked_words` are the files of words that it names."""

    asked_words: tuple[Path, ...]
    report_error: Callable[[InputError], None]
    keyboard: Keyboard = field(default_factory=Keyboard)
    screen: Screen = field(default_factory=Screen)
    keys_shown: bool = False
    cannot_save: bool = False
    search: Search | None = None
    found: bool = False
