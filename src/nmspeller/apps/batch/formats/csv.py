"""CSV: only the field of the text is replaced, so dialect, quotes and line ends stay the same."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from nmspeller.apps.batch.formats import BadRow, Parsed, decode, edits_as_json, split_line_end
from nmspeller.apps.batch.job import Write
from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction


@dataclass(frozen=True)
class CsvLayout:
    """The layout by the header: the delimiter, the field with the text, the number of fields."""

    delimiter: str
    column: int
    fields: int


def read_layout(headers: Mapping[str, bytes], column: str, edits_column: str | None, name: str) -> CsvLayout:
    """Find the column in a header, which is given as split off by each possible delimiter.

    The delimiter is the first with which the column is found.
    """
    names: dict[str, list[str]] = {}
    for delimiter, header in headers.items():
        try:
            row, _end = split_line_end(decode(header).removeprefix("\ufeff"))
            names[delimiter] = [value(row[slice(*span)]) for span in spans(row, delimiter)]
        except BadRow:
            continue
    if not names:
        raise InputError(
            _("the first line of {name} is not a CSV header in UTF-8; fix the file.").format(name=name)
        )
    for delimiter, found in names.items():
        if column in found:
            if found.count(column) > 1:
                raise InputError(
                    _("{name} has two columns {column!r}; give one of them another name.").format(
                        name=name, column=column
                    )
                )
            if edits_column in found:
                raise InputError(
                    _("{name} has a column {column!r} already, where the edits would go.").format(
                        name=name, column=edits_column
                    )
                )
            return CsvLayout(delimiter, found.index(column), len(found))
    likeliest = max(names.values(), key=len)
    raise InputError(
        _("{name} has no column {column!r}; choose with --column among {columns}.").format(
            name=name, column=column, columns=", ".join(likeliest)
        )
    )


class CsvFormat:
    """Rows of fields; edits are added as a last field, in JSON."""

    def __init__(self, layout: CsvLayout, edits_column: str, write: Write) -> None:
        self._layout = layout
        self._edits_column = edits_column
        self._write = write

    def header(self, raw: bytes) -> bytes:
        """The header as it is written."""
        body, line_end = split_line_end(raw.decode("utf-8"))
        return (body + self._added(self._edits_column) + line_end).encode()

    def parse(self, raw: bytes) -> Parsed:
        """The text in the column's field."""
        row, line_end = split_line_end(decode(raw))
        if not row:
            return Parsed(None, lambda _: raw)
        found = spans(row, self._layout.delimiter)
        if len(found) != self._layout.fields:
            raise BadRow(f"has {len(found)} fields where the header has {self._layout.fields}")
        start, stop = found[self._layout.column]
        text = value(row[start:stop])

        def write(correction: Correction | None) -> bytes:
            field = row[start:stop]
            if correction is not None and correction.edits and self._write is not Write.EDITS:
                field = self._quoted(correction.text, always=field.startswith('"'))
            added = self._added(json.dumps(edits_as_json(correction), ensure_ascii=False))
            return f"{row[:start]}{field}{row[stop:]}{added}{line_end}".encode()

        return Parsed(text or None, write)

    def _added(self, last: str) -> str:
        if self._write is Write.CORRECTED:
            return ""
        return self._layout.delimiter + self._quoted(last)

    def _quoted(self, field: str, always: bool = False) -> str:
        if always or any(sign in field for sign in (self._layout.delimiter, '"', "\n", "\r")):
            return '"' + field.replace('"', '""') + '"'
        return field


def spans(row: str, delimiter: str) -> list[tuple[int, int]]:
    """The start and stop of the fields of a row, including quotes."""
    found = []
    start = 0
    while True:
        at = start
        if row.startswith('"', start):
            at = start + 1
            while True:
                at = row.find('"', at)
                if at < 0:
                    raise BadRow("a quote is never closed")
                if not row.startswith('"', at + 1):
                    break
                at += 2
        stop = row.find(delimiter, at)
        if stop < 0:
            found.append((start, len(row)))
            return found
        found.append((start, stop))
        start = stop + 1


def value(field: str) -> str:
    """The value of a field, without its quotes."""
    if not field.startswith('"'):
        return field
    if len(field) < 2 or not field.endswith('"'):
        raise BadRow("characters follow a closing quote")
    inner = field[1:-1]
    if '"' in inner.replace('""', ""):
        raise BadRow("characters follow a closing quote")
    return inner.replace('""', '"')
