"""Split the input into numbered shards, in one pass that also computes its hash.

The shards depend only on the input and the shard size, so every run of a job, on any number of workers, has
the same ones.
"""

import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import tee
from typing import IO, Any

from nmspeller.apps.batch.filesystem import Folder, file_system
from nmspeller.apps.batch.formats.csv import CsvLayout, read_layout
from nmspeller.apps.batch.job import BatchJob, Write
from nmspeller.apps.batch.rows import RawRow, csv_rows, lines
from nmspeller.apps.batch.sources import Source, decompress
from nmspeller.apps.batch.store import piece_name
from nmspeller.errors import InputError
from nmspeller.messages import _

_MAX_PARQUET_ROWS = 1 << 16
_PIECE = 1 << 20


@dataclass(frozen=True)
class Shard:
    """A piece of an input file: bytes start to stop, or rows start to stop of a Parquet row group.

    `first_row` counts the file's rows from 1; a CSV header is not one of them.
    """

    number: int
    source: int
    first_row: int
    rows: int
    start: int
    stop: int
    group: int | None = None


@dataclass(frozen=True)
class PlannedSource:
    """An input file with its hash, its number of rows, and the layout of a CSV file."""

    source: Source
    size: int
    key: str
    sha256: str
    rows: int
    header: str = ""
    layout: CsvLayout | None = None


@dataclass(frozen=True)
class Plan:
    """The whole job: its files and its shards, both in input order."""

    sources: tuple[PlannedSource, ...]
    shards: tuple[Shard, ...]

    @property
    def rows(self) -> int:
        """The number of rows of all files."""
        return sum(source.rows for source in self.sources)

    def as_json(self) -> dict[str, Any]:
        """Plain values that `from_json` reads."""
        return {
            "inputs": [asdict(source) for source in self.sources],
            "shards": [list(asdict(shard).values()) for shard in self.shards],
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Plan":
        """The plan that `as_json` wrote."""
        sources = []
        for value in values["inputs"]:
            layout = CsvLayout(**value["layout"]) if value["layout"] else None
            sources.append(PlannedSource(**{**value, "source": Source(**value["source"]), "layout": layout}))
        return cls(tuple(sources), tuple(Shard(*shard) for shard in values["shards"]))


def plan(job: BatchJob, sources: list[Source], pieces: Folder, on_bytes: Callable[[int], None]) -> Plan:
    """Read every file once and split it.

    A compressed file cannot be read from the middle, so its shards are stored as separate files in the folder
    `pieces` until the job ends. `on_bytes` is called with the number of bytes of each read.
    """
    planned: list[PlannedSource] = []
    shards: list[Shard] = []
    for index, source in enumerate(sources):
        fs, path = file_system(source.address)
        with fs.open(path, "rb") as opened:
            hashing = _Hashing(opened, on_bytes)
            raw = io.BufferedReader(hashing, _PIECE)
            if source.format == "parquet":
                found = list(_parquet_shards(job, source, index, len(shards)))
                header, layout = "", None
            else:
                stream = decompress(raw, source.compression)
                try:
                    header, layout, cut = _header(job, source, stream)
                    start = len(header.encode())
                    found = list(_byte_shards(job, source, index, len(shards), start, cut, pieces))
                except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
                    # An error of the disk has an errno, an error of a decompressor has none.
                    if isinstance(error, OSError) and error.errno is not None:
                        raise
                    raise InputError(
                        _("{file} is damaged: {problem}; create the file again.").format(
                            file=source.shown, problem=error
                        )
                    ) from error
            while raw.read(_PIECE):
                pass
        shards += found
        count = sum(shard.rows for shard in found)
        sha256 = hashing.hash.hexdigest()
        planned.append(PlannedSource(source, hashing.size, key(source), sha256, count, header, layout))
    return Plan(tuple(planned), tuple(shards))


def key(source: Source) -> str:
    """A key that changes with the file's size and times; quicker than a hash, which reads all of it."""
    fs, path = file_system(source.address)
    return str(fs.ukey(path))


def size_of(source: Source) -> int:
    """The size of a file as stored, compressed or not."""
    fs, path = file_system(source.address)
    return int(fs.size(path) or 0)


class _Hashing(io.RawIOBase):
    """A stream that hashes what is read through it."""

    def __init__(self, stream: IO[bytes], on_bytes: Callable[[int], None]) -> None:
        self._stream = stream
        self._on_bytes = on_bytes
        self.hash = hashlib.sha256()
        self.size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self.hash.update(data)
        self.size += len(data)
        self._on_bytes(len(data))
        return len(data)


def _header(
    job: BatchJob, source: Source, stream: IO[bytes]
) -> tuple[str, CsvLayout | None, Iterator[RawRow]]:
    """The header of a CSV file, its layout, and the rows that follow.

    An empty file or one of another format has neither header nor layout.
    """
    if source.format != "csv":
        return "", None, lines(stream)
    delimiters = source.delimiters
    # The delimiter determines the quotes, and the quotes determine where the header ends.
    whole, *tries = tee(lines(stream), 1 + len(delimiters))
    firsts = {sign: next(csv_rows(found, sign), None) for sign, found in zip(delimiters, tries, strict=True)}
    headers = {sign: first.raw for sign, first in firsts.items() if first is not None}
    if not headers:
        return "", None, whole
    edits_column = None if job.write is Write.CORRECTED else job.edits_column
    layout = read_layout(headers, job.column, edits_column, source.shown)
    cut = csv_rows(whole, layout.delimiter)
    return next(cut).raw.decode(), layout, cut


def _byte_shards(
    job: BatchJob, source: Source, index: int, number: int, start: int, cut: Iterator[RawRow], pieces: Folder
) -> Iterator[Shard]:
    first_row, count, size = 1, 0, 0
    piece: list[bytes] = []

    def finish() -> Shard:
        if source.compression:
            pieces.write(piece_name(number), gzip.compress(b"".join(piece), 1, mtime=0))
        return Shard(number, index, first_row, count, start, start + size)

    for row in cut:
        count += 1
        size += row.size
        if source.compression:
            # Only the beginning of an oversized row is kept, which is still too long to be corrected.
            piece.append(row.raw if row.size == len(row.raw) else row.raw + b"\n")
        if size >= job.shard_bytes:
            yield finish()
            number += 1
            start, first_row, count, size = start + size, first_row + count, 0, 0
            piece.clear()
    if count:
        yield finish()


def _parquet_shards(job: BatchJob, source: Source, index: int, number: int) -> Iterator[Shard]:
    from nmspeller.apps.batch.formats.parquet import check_schema, open_parquet

    fs, path = file_system(source.address)
    edits_column = None if job.write is Write.CORRECTED else job.edits_column
    first_row = 1
    with fs.open(path, "rb") as stream:
        file = open_parquet(stream, source.shown)
        check_schema(file.schema_arrow, job.column, edits_column, source.shown)
        for group in range(file.metadata.num_row_groups):
            metadata = file.metadata.row_group(group)
            columns = [metadata.column(at) for at in range(metadata.num_columns)]
            size = sum(c.total_uncompressed_size for c in columns if c.path_in_schema == job.column)
            count = metadata.num_rows
            step = min(max(count * job.shard_bytes // max(size, 1), 1), _MAX_PARQUET_ROWS)
            for start in range(0, count, step):
                stop = min(start + step, count)
                yield Shard(number, index, first_row, stop - start, start, stop, group)
                number += 1
                first_row += stop - start
