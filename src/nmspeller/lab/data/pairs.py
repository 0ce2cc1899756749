"""Sentence pairs in TSV files: `source<TAB>target`, one pair a line, both sides usually equally long.

UTF-8, with or without a byte-order mark, LF or CRLF. Only line feeds end a line: U+2028, U+0085 and the
like are text. White space belongs to the sentences and is kept; a stray blank on one side shows as
unequal lengths.
"""

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from nmspeller.errors import InputError
from nmspeller.files import writing

log = logging.getLogger(__name__)


class Pair(NamedTuple):
    """A sentence as written and as corrected, of equal length unless read otherwise."""

    source: str
    target: str


class BadLine(NamedTuple):
    """A line that is not a pair, and the reason; lines count from 1."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.reason}"


class Pairs(list[Pair]):
    """The pairs of a file, in order, and the lines that were skipped."""

    def __init__(self, pairs: Iterable[Pair] = (), skipped: Iterable[BadLine] = ()) -> None:
        super().__init__(pairs)
        self.skipped = tuple(skipped)


def read_pairs(path: str | Path, *, lenient: bool = False, equal_length: bool = True) -> Pairs:
    """Read a TSV file of pairs.

    A lenient read skips bad lines, lists them in `skipped` and logs how many there were. Without
    `equal_length` the two sides may have any lengths but 0.

    Raises:
        InputError: the file cannot be read; or a line is bad, unless `lenient`.
    """
    pairs: list[Pair] = []
    skipped: list[BadLine] = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            pairs.append(_parse(line, equal_length))
        except ValueError as error:
            bad = BadLine(str(path), number, str(error))
            if not lenient:
                raise InputError(f"{bad}.") from None
            skipped.append(bad)
    report_skipped(skipped)
    return Pairs(pairs, skipped)


def write_pairs(path: str | Path, pairs: Iterable[tuple[str, str]]) -> None:
    """Write pairs so that `read_pairs` gives them back; the file appears only when it is complete.

    Raises:
        InputError: the format cannot represent a pair, or the file cannot be written.
    """
    write_lines(path, (_format(*pair, number) for number, pair in enumerate(pairs, start=1)))


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Write UTF-8 lines to a file that appears only when it is complete.

    Raises:
        InputError: a line has a lone surrogate, or the file cannot be written.
    """
    try:
        with writing(Path(path)) as file:
            for number, line in enumerate(lines, start=1):
                # A leading U+FEFF would be read as a byte-order mark; a second one preserves it.
                mark = "\ufeff" if number == 1 and line.startswith("\ufeff") else ""
                file.write(f"{mark}{line}\n".encode())
    except UnicodeEncodeError:
        raise InputError(f"line {number} for {path} contains a lone surrogate; remove it.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error


def read_lines(path: str | Path) -> Iterator[bytes]:
    """The undecoded lines of a file, without byte-order mark and line ends: a bad byte affects one line.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file):
                if number == 0:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                yield line.removesuffix(b"\n").removesuffix(b"\r")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error


def report_skipped(skipped: list[BadLine]) -> None:
    """Log what a lenient read left out, so that nothing is dropped silently."""
    if skipped:
        log.warning("%d bad line(s) skipped; the first: %s", len(skipped), skipped[0])


def decode(line: bytes) -> str:
    """The text of a line; ValueError with a readable reason where it is not UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8") from None


def _parse(line: bytes, equal_length: bool) -> Pair:
    fields = decode(line).split("\t")
    if fields == [""]:
        raise ValueError("the line is empty")
    if len(fields) != 2:
        raise ValueError(f"{len(fields)} field(s) where source<TAB>target are expected")
    source, target = fields
    if equal_length and len(source) != len(target):
        raise ValueError(f"the source has {len(source)} characters and the target {len(target)}")
    if not (source and target):
        raise ValueError("both sentences are empty" if source == target else "one sentence is empty")
    return Pair(source, target)


def _format(source: str, target: str, number: int) -> str:
    if not source or len(source) != len(target):
        raise InputError(
            f"pair {number} has {len(source)} and {len(target)} characters; make them equal, not 0."
        )
    if any(mark in text for text in (source, target) for mark in "\t\r\n"):
        raise InputError(f"pair {number} contains a tab or a line end; remove it.")
    return f"{source}\t{target}"
