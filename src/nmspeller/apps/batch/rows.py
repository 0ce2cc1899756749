"""Split a stream of bytes into rows, with bounded memory for any file."""

from codecs import BOM_UTF8
from collections import deque
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

# Longer rows are quarantined without being checked: 4 MiB are 1.4 million Chinese characters.
MAX_ROW_BYTES = 4 << 20


class RawRow(NamedTuple):
    """A row as it is in the file, with its line end.

    `size` is its full size; of an oversized row, `raw` has only the beginning.
    """

    raw: bytes
    size: int


def lines(stream: IO[bytes]) -> Iterator[RawRow]:
    """The lines of a stream; only `\\n` ends one."""
    while raw := stream.readline(MAX_ROW_BYTES + 1):
        size = len(raw)
        if size > MAX_ROW_BYTES and not raw.endswith(b"\n"):
            while rest := stream.readline(1 << 20):
                size += len(rest)
                if rest.endswith(b"\n"):
                    break
        yield RawRow(raw, size)


def csv_rows(source: Iterator[RawRow], delimiter: str) -> Iterator[RawRow]:
    """The rows of a CSV file, from its lines: a row continues across line ends inside quotes.

    If a quote is never closed, the line that opens it is a row by itself, and the next row starts on the next
    line: a stray quote costs one row and not the rest of the file.
    """
    # The first line of a row and those that were searched for the end of its quote without success. Whether a
    # line ends a quote does not depend on where the quote began, so no line is searched twice.
    waiting = deque[RawRow]()
    size = 0
    while True:
        if not waiting:
            first = next(source, None)
            if first is None:
                return
            waiting.append(first)
            size = first.size
        closing = None
        if _ends_inside_quotes(waiting[0].raw, False, delimiter):
            while closing is None and size <= MAX_ROW_BYTES and (line := next(source, None)):
                size += line.size
                if _ends_inside_quotes(line.raw, True, delimiter):
                    waiting.append(line)
                else:
                    closing = line
        if closing is None:
            size -= waiting[0].size
            yield waiting.popleft()
        else:
            yield RawRow(b"".join(line.raw for line in (*waiting, closing)), size)
            waiting.clear()


def rows(stream: IO[bytes], format: str, delimiter: str) -> Iterable[RawRow]:
    """The rows of a stream in one of the formats that are made of bytes."""
    found = lines(stream)
    return csv_rows(found, delimiter) if format == "csv" else found


def _ends_inside_quotes(line: bytes, inside: bool, delimiter: str) -> bool:
    """Whether a quoted field is still open at the end of a line that began inside one, or outside.

    A quote opens a field only as its first character, and `""` inside a quoted field is an escaped quote.
    """
    opening = delimiter.encode() + b'"'
    line = line.removeprefix(BOM_UTF8)
    at = 0
    if not inside and line.startswith(b'"'):
        inside, at = True, 1
    while True:
        if inside:
            at = line.find(b'"', at)
            if at < 0:
                return True
            if line[at + 1 : at + 2] == b'"':
                at += 2
                continue
            inside, at = False, at + 1
        at = line.find(opening, at)
        if at < 0:
            return False
        inside, at = True, at + 2
