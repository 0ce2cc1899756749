"""A unified diff for `patch --binary` and `git apply`, with the same result as `--fix`.

That of an Office document, whose text is not its bytes, is for reading.
"""

import os
import re
import sys
from collections.abc import Iterator

from nmspeller.apps.documents.document import Document, TextDocument
from nmspeller.apps.documents.office import OfficeDocument
from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction

_CONTEXT = 3
_COLOURS = {b"-": b"31", b"+": b"32", b"@": b"36"}
_ESCAPES = dict(zip('\a\b\t\n\v\f\r"\\', 'abtnvfr"\\', strict=True))


class DiffReport:
    """Writes each document's lines in its own encoding, as git does, so that the diff can be applied."""

    def show(self, document: Document, correction: Correction) -> None:
        if not correction.edits:
            return
        sys.stdout.flush()
        in_colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        if isinstance(document, OfficeDocument):
            lines = _of_office_text(document, correction)
        else:
            lines = _of_file(document, correction, only_read=in_colour)
        for line in lines:
            if in_colour and (colour := _COLOURS.get(line[:1])) and not line.startswith((b"--- ", b"+++ ")):
                line = b"\x1b[%sm%s\x1b[0m\n" % (colour, line.rstrip())
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    def finish(self, *, fixed: bool = False) -> None:
        pass


def _of_file(document: TextDocument, correction: Correction, *, only_read: bool) -> Iterator[bytes]:
    if document.encoding.codec.startswith("utf-16"):
        raise InputError(
            _("{name} is UTF-16, which a text diff cannot hold; use --fix.").format(name=document.name)
        )
    old = document.with_edits(())
    new = document.with_edits(correction.edits)
    if only_read:  # on a terminal
        old, new = correction.source.encode(), correction.text.encode()
    return unified(document.name, old, new)


def _of_office_text(document: OfficeDocument, correction: Correction) -> Iterator[bytes]:
    """A diff of the lines of text, under a name that no file has, so that nothing is patched by mistake."""
    sentence = _("{name}: the text of the document, for reading; --fix corrects the document itself.")
    yield f"# {sentence.format(name=_quoted(document.name))}\n".encode(errors="surrogateescape")
    yield from unified(f"{document.name} (text)", correction.source.encode(), correction.text.encode())


def unified(name: str, before: bytes, after: bytes) -> Iterator[bytes]:
    """The diff's lines with their ends.

    An edit never adds or removes a line end, so lines correspond; only a last line without an end can vanish.
    """
    old, new = _lines(before), _lines(after)
    new += [b""] * (len(old) - len(new))
    changed = [number for number, (was, becomes) in enumerate(zip(old, new, strict=True)) if was != becomes]
    if not changed:
        return
    yield _header("---", f"a/{name.lstrip('/')}")
    yield _header("+++", f"b/{name.lstrip('/')}")
    for first, last in _hunks(changed, len(old)):
        left = sum(map(bool, new[first:last]))
        yield b"@@ -%d,%d +%d,%d @@\n" % (first + 1, last - first, first + bool(left), left)
        at = first
        while at < last:
            run = at
            while run < last and old[run] != new[run]:
                run += 1
            yield from _signed(b"-", old[at:run])
            yield from _signed(b"+", new[at:run])
            if run < last:
                yield from _signed(b" ", old[run : run + 1])
            at = run + 1


def _header(sign: str, path: str) -> bytes:
    """A path as git writes it: quoted if necessary, and followed by a tab if it contains a space."""
    return os.fsencode(f"{sign} {_quoted(path)}" + ("\t\n" if " " in path else "\n"))


def _quoted(path: str) -> str:
    escaped = re.sub(r'[\x01-\x1f\x7f"\\]', _escape, path)
    return path if escaped == path else f'"{escaped}"'


def _escape(character: re.Match[str]) -> str:
    return "\\" + _ESCAPES.get(character[0], f"{ord(character[0]):03o}")


def _hunks(changed: list[int], lines: int) -> Iterator[tuple[int, int]]:
    """First line and line after the last of each hunk; hunks that would touch are merged."""
    first, last = changed[0], changed[0]
    for number in (*changed[1:], lines + 2 * _CONTEXT + 1):
        if number > last + 2 * _CONTEXT:
            yield max(first - _CONTEXT, 0), min(last + _CONTEXT + 1, lines)
            first = number
        last = number


def _signed(sign: bytes, lines: list[bytes]) -> Iterator[bytes]:
    for line in filter(None, lines):
        yield sign + line
        if not line.endswith(b"\n"):
            yield b"\n\\ No newline at end of file\n"


def _lines(text: bytes) -> list[bytes]:
    """The lines with their ends, cut at `\\n` alone, as diff and patch do."""
    return re.findall(rb"[^\n]*\n|[^\n]+", text)
