"""What the arguments of `check` and `review` name, ready to be read."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nmspeller.apps.documents import document as documents
from nmspeller.apps.documents import files
from nmspeller.apps.documents.document import Document
from nmspeller.apps.documents.prose import OFFICE_FORMATS, format_of, with_strings
from nmspeller.apps.project.config import Config, config_for
from nmspeller.apps.project.find import DanglingLink, find
from nmspeller.apps.project.my_words import with_my_words
from nmspeller.errors import InputError
from nmspeller.messages import _

_MOST_SUFFIXES = 8  # that are named; a folder may have many more


@dataclass(frozen=True)
class Input:
    """Something to check: where it comes from, and how to read it."""

    load: Callable[[], tuple[Document, bytes]]
    path: Path | None = None
    config: Config = field(default_factory=Config)

    @property
    def size(self) -> int:
        try:
            return self.path.stat().st_size if self.path else 0
        except OSError:
            return 0


@dataclass
class Inputs:
    """Reads in one format and encoding; `skipped` counts the suffixes that were left out of folders."""

    format: str
    encoding: str
    strings: bool
    report_error: Callable[[InputError], None]
    tell: Callable[[str], None]
    skipped: Counter[str] = field(default_factory=Counter)

    def named(self, names: list[str]) -> Iterator[Input]:
        """The inputs that some arguments name, each once."""
        seen = set()
        for name in names:
            if name == "-":
                yield Input(self._read_standard_input)
                continue
            for found in find(name, self.skipped):
                if isinstance(found, DanglingLink):
                    self.tell(f"nmspeller: {found}")
                elif isinstance(found, InputError):
                    self.report_error(found)
                elif (real := os.path.realpath(found)) not in seen:
                    seen.add(real)
                    yield self._file(found)

    def text(self, text: str) -> Input:
        """A text that is not in a file."""
        if self.format in OFFICE_FORMATS:
            raise InputError(
                _("--text cannot be checked as {format}; give a file.").format(format=self.format)
            )
        return Input(lambda: (documents.from_text(text, "<text>", self.format), b""))

    def describe_skipped(self) -> str | None:
        """A sentence about the files of folders that were not read, if there are any."""
        if not self.skipped:
            return None
        without = _("no suffix")
        shown = [f"{suffix or without} ({count})" for suffix, count in self.skipped.most_common()]
        if len(shown) > _MOST_SUFFIXES:
            shown[_MOST_SUFFIXES:] = ["…"]
        return _("Not checked in folders: {suffixes}; a file given by name is checked.").format(
            suffixes=_(", ").join(shown)
        )

    def _file(self, path: Path) -> Input:
        config = with_my_words(config_for(path), path)
        format = config.format_of(path) if self.format == "auto" else self.format
        if self.strings:
            format = with_strings(format_of(path) if format == "auto" else format)
        return Input(lambda: documents.read(path, format, self.encoding), path, config)

    def _read_standard_input(self) -> tuple[Document, bytes]:
        if sys.stdin is None:
            raise InputError(_("Standard input is closed; give a file, or redirect standard input."))
        raw = files.read_stream(sys.stdin.buffer, "<stdin>")
        return documents.from_bytes("<stdin>", raw, format=self.format, encoding=self.encoding), raw
