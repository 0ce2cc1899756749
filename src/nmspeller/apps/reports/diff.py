"""A unified diff that `patch` and `git apply` take."""

import os
import re
import sys
from collections.abc import Iterator

from nmspeller.apps.documents.document import Document, TextDocument
from nmspeller.apps.documents.encoding import Encoding
from nmspeller.runtime.correction import Correction

_CONTEXT = 3
_COLOURS = {"-": "31", "+": "32", "@": "36"}


class DiffReport:
    """Writes each document's lines in the document's own encoding, as git does, so that the diff applies."""

    def show(self, document: Document, correction: Correction) -> None:
        encoding = document.encoding if isinstance(document, TextDocument) else Encoding("utf-8")
        in_colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        codec = "utf-8" if in_colour else encoding.codec
        sys.stdout.flush()
        for line in unified(document.name, correction):
            if in_colour and (colour := _COLOURS.get(line[0])) and not line.startswith(("--- ", "+++ ")):
                line = f"\x1b[{colour}m{line.rstrip()}\x1b[0m\n"
            sys.stdout.buffer.write(line.encode(codec, errors="surrogateescape"))
        sys.stdout.buffer.flush()

    def finish(self) -> None:
        pass


def unified(name: str, correction: Correction) -> Iterator[str]:
    """The diff's lines with their ends; an edit never adds or removes a line, so line meets line."""
    old, new = _lines(correction.source), _lines(correction.text)
    changed = [number for number, (before, after) in enumerate(zip(old, new, strict=True)) if before != after]
    if not changed:
        return
    yield f"--- a/{name}\n"
    yield f"+++ b/{name}\n"
    for first, last in _hunks(changed, len(old)):
        yield f"@@ -{first + 1},{last - first} +{first + 1},{last - first} @@\n"
        at = first
        while at < last:
            run = at
            while run < last and old[run] != new[run]:
                run += 1
            yield from _signed("-", old[at:run])
            yield from _signed("+", new[at:run])
            if run < last:
                yield from _signed(" ", old[run : run + 1])
            at = run + 1


def _hunks(changed: list[int], lines: int) -> Iterator[tuple[int, int]]:
    """First line and line after the last of each hunk; hunks that would touch are one."""
    first, last = changed[0], changed[0]
    for number in (*changed[1:], lines + 2 * _CONTEXT + 1):
        if number > last + 2 * _CONTEXT:
            yield max(first - _CONTEXT, 0), min(last + _CONTEXT + 1, lines)
            first = number
        last = number


def _signed(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line
        if not line.endswith("\n"):
            yield "\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """The lines with their ends, cut at `\\n` alone, as diff and patch do."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
