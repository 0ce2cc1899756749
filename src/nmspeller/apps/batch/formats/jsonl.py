"""JSON lines: a row is one object, in which only the text is replaced.

Numbers, the order of keys and escapes stay the same, since the object is not serialised again.
"""

import json
from typing import Any

from nmspeller.apps.batch.formats import BadRow, Parsed, decode, edits_as_json, split_line_end
from nmspeller.apps.batch.job import Write
from nmspeller.runtime.correction import Correction

_DECODER = json.JSONDecoder()
_BLANKS = (" ", "\t", "\n", "\r")


def dump(value: Any, *, escape: bool = False, indent: int | None = None) -> str:
    """JSON in UTF-8; in ASCII if asked, or if UTF-8 cannot encode it (a lone surrogate)."""
    if not escape:
        shown = json.dumps(value, ensure_ascii=False, indent=indent)
        try:
            shown.encode()
            return shown
        except UnicodeEncodeError:
            pass
    return json.dumps(value, indent=indent)


class JsonLinesFormat:
    """One object per line; blank lines are kept."""

    def __init__(self, column: str, edits_column: str, write: Write) -> None:
        self._column = column
        self._edits_column = edits_column
        self._write = write

    def parse(self, raw: bytes) -> Parsed:
        """The text under the column's key."""
        row, line_end = split_line_end(decode(raw))
        if not row.strip(" \t\r\ufeff"):
            return Parsed(None, lambda _: raw)
        try:
            members, closing = _members(row)
        except ValueError as error:
            raise BadRow(f"not a JSON object: {error}") from error
        except RecursionError as error:
            raise BadRow("its JSON is nested too deeply") from error
        if self._column not in members:
            raise BadRow(f"has no {self._column!r}")
        adds_edits = self._write is not Write.CORRECTED
        if adds_edits and self._edits_column in members:
            raise BadRow(f"has {self._edits_column!r} already, where the edits would go")
        text, start, stop = members[self._column]
        if text is not None and not isinstance(text, str):
            raise BadRow(f"its {self._column!r} is not a string")

        def write(correction: Correction | None) -> bytes:
            value = row[start:stop]
            escape = value.isascii() and text is not None and not text.isascii()
            if correction is not None and correction.edits and self._write is not Write.EDITS:
                value = dump(correction.text, escape=escape)
            edits = ""
            if adds_edits:
                edits = f", {dump(self._edits_column)}: {dump(edits_as_json(correction), escape=escape)}"
            return f"{row[:start]}{value}{row[stop:closing]}{edits}{row[closing:]}{line_end}".encode()

        return Parsed(text or None, write)


def _members(row: str) -> tuple[dict[str, tuple[Any, int, int]], int]:
    """Each member's value with its start and stop in the row, by key (the last of equal ones), and the end.

    Raises ValueError where the row is not one JSON object.
    """

    def skip(at: int) -> int:
        while row[at : at + 1] in _BLANKS:
            at += 1
        return at

    def expect(signs: str, at: int) -> None:
        if row[at : at + 1] not in tuple(signs):
            raise ValueError(f"{' or '.join(signs)} expected at character {at + 1}")

    members: dict[str, tuple[Any, int, int]] = {}
    at = skip(1 if row.startswith("\ufeff") else 0)
    expect("{", at)
    closing = skip(at + 1)
    if row[closing : closing + 1] != "}":
        at = closing
        while True:
            expect('"', at)
            key, at = _DECODER.raw_decode(row, at)
            at = skip(at)
            expect(":", at)
            start = skip(at + 1)
            value, at = _DECODER.raw_decode(row, start)
            members[key] = (value, start, at)
            closing = skip(at)
            expect(",}", closing)
            if row[closing] == "}":
                break
            at = skip(closing + 1)
    if skip(closing + 1) != len(row):
        raise ValueError(f"more follows the object at character {closing + 2}")
    return members, closing
