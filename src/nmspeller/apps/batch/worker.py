"""Correct one shard: read its rows, check their texts, and write them to the store."""

import errno
import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

from nmspeller.apps.batch.checking import CachedChecker
from nmspeller.apps.batch.filesystem import file_system
from nmspeller.apps.batch.formats import BadRow, Parsed
from nmspeller.apps.batch.formats.csv import CsvFormat
from nmspeller.apps.batch.formats.jsonl import JsonLinesFormat
from nmspeller.apps.batch.formats.text import TextFormat
from nmspeller.apps.batch.job import BatchJob
from nmspeller.apps.batch.plan import PlannedSource, Shard
from nmspeller.apps.batch.rows import MAX_ROW_BYTES, rows
from nmspeller.apps.batch.sources import compress
from nmspeller.apps.batch.store import Store, piece_name
from nmspeller.apps.batch.tally import Tally
from nmspeller.errors import InputError
from nmspeller.files import reason
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction

_TOO_LONG = f"longer than {MAX_ROW_BYTES >> 20} MiB"
_PARQUET_BATCH = 1024


@dataclass(frozen=True)
class WorkOrder:
    """What every worker of a job needs; it is sent to processes and actors."""

    job: BatchJob
    sources: tuple[PlannedSource, ...]
    model_hash: str
    cache: int
    language: str = "en"


class ShardWorker:
    """A worker, which loads its speller once and caches corrections."""

    def __init__(self, order: WorkOrder) -> None:
        self._order = order
        self._job = order.job
        self._store = Store(order.job.output)
        speller = order.job.speller.load()
        if speller.model_hash != order.model_hash:
            raise InputError(
                _("a worker has another model than this machine; install the same one everywhere.")
            )
        self._checker = CachedChecker(speller, order.cache)

    def finished(self, shard: Shard) -> dict[str, Any] | None:
        """The entry of a shard that is already finished, by another worker or before a restart."""
        return self._store.entry(shard.number)

    def correct(self, shard: Shard) -> dict[str, Any]:
        """Correct a shard, store it and return its entry; a finished shard is not corrected again."""
        try:
            return self.finished(shard) or self._correct(shard)
        except OSError as error:
            raise InputError(disk_error_message(error, self._job.output)) from error

    def _correct(self, shard: Shard) -> dict[str, Any]:
        planned = self._order.sources[shard.source]
        tally = Tally(shard, planned.source.shown)
        if planned.source.format == "parquet":
            data = self._correct_parquet(shard, planned, tally)
        else:
            data = self._correct_bytes(shard, planned, tally)
        with tally.timed("write"):
            data = compress(data, planned.source.compression)
            quarantine = tally.quarantine()
            entry = tally.entry(data, quarantine)
            self._store.finish(shard.number, data, quarantine, entry)
        return entry

    def _correct_bytes(self, shard: Shard, planned: PlannedSource, tally: Tally) -> bytes:
        """Shards are small (1 MiB and a row), so one is checked as a whole in memory."""
        format = line_format(self._job, planned)
        parsed: list[tuple[int, bytes, Parsed]] = []
        with tally.timed("read"), self._open(shard, planned) as stream:
            delimiter = planned.layout.delimiter if planned.layout else ","
            for number, row in enumerate(rows(stream, planned.source.format, delimiter)):
                try:
                    if row.size > MAX_ROW_BYTES:
                        raise BadRow(_TOO_LONG)
                    parsed.append((number, row.raw, format.parse(row.raw)))
                except BadRow as error:
                    tally.bad(number, error, row.raw)
        with tally.timed("check"):
            answers = self._check([found.text for _, _, found in parsed], tally)
        with tally.timed("write"):
            written = io.BytesIO()
            for (number, raw, found), answer in zip(parsed, answers, strict=True):
                if isinstance(answer, BadRow):
                    tally.bad(number, answer, raw)
                else:
                    written.write(found.write(answer))
        return written.getvalue()

    def _correct_parquet(self, shard: Shard, planned: PlannedSource, tally: Tally) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from nmspeller.apps.batch.formats import parquet

        job = self._job
        written = io.BytesIO()
        fs, path = file_system(planned.source.address)
        with fs.open(path, "rb") as stream:
            name = planned.source.shown
            file = parquet.open_parquet(stream, name)
            schema = parquet.output_schema(file.schema_arrow, job.edits_column, job.write)
            batches = parquet.read_rows(file, name, shard.group or 0, shard.start, shard.stop, _PARQUET_BATCH)
            at = 0
            with pq.ParquetWriter(written, schema, compression="zstd") as writer:
                while True:
                    with tally.timed("read"):
                        records = next(batches, None)
                    if records is None:
                        break
                    with tally.timed("check"):
                        raws = parquet.raw_texts(records, job.column)
                        answers = self._check([parquet.decode_text(raw, job.column) for raw in raws], tally)
                    with tally.timed("write"):
                        good = [not isinstance(answer, BadRow) for answer in answers]
                        for row, answer in enumerate(answers):
                            if isinstance(answer, BadRow):
                                tally.bad(at + row, answer, raws[row] or b"")
                        at += len(records)
                        kept = [answer for answer in answers if not isinstance(answer, BadRow)]
                        records = parquet.only(records, good)
                        records = parquet.rewrite(records, kept, job.column, job.edits_column, job.write)
                        writer.write_table(pa.Table.from_batches([records], schema))
        return written.getvalue()

    def _check(self, texts: Sequence[str | BadRow | None], tally: Tally) -> list[Correction | BadRow | None]:
        """The correction of each text, None without a text; only checked texts are counted."""
        short = [text for text in texts if isinstance(text, str) and len(text) <= MAX_ROW_BYTES]
        found, remembered = self._checker.check(short)
        tally.remembered(remembered)
        answers = iter(found)
        result: list[Correction | BadRow | None] = []
        for text in texts:
            if not isinstance(text, str):
                result.append(text)
            elif len(text) > MAX_ROW_BYTES:
                result.append(BadRow(_TOO_LONG))
            else:
                answer = next(answers)
                if isinstance(answer, Correction):
                    tally.checked(answer)
                result.append(answer)
        return result

    def _open(self, shard: Shard, planned: PlannedSource) -> IO[bytes]:
        if planned.source.compression:
            content = self._store.pieces.read(piece_name(shard.number))
            if content is None:
                raise InputError(
                    _("a piece of {file} is missing; remove OUTPUT and start again.").format(
                        file=planned.source.shown
                    )
                )
            return io.BytesIO(gzip.decompress(content))
        fs, path = file_system(planned.source.address)
        return io.BufferedReader(_Range(fs.open(path, "rb"), shard.start, shard.stop), 1 << 18)


class _Range(io.RawIOBase):
    """Bytes start to stop of a stream, which closing this closes too."""

    def __init__(self, stream: IO[bytes], start: int, stop: int) -> None:
        self._stream = stream
        self._left = stop - start
        stream.seek(start)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def line_format(job: BatchJob, planned: PlannedSource) -> TextFormat | JsonLinesFormat | CsvFormat:
    """How the rows of a file are read and written."""
    if planned.source.format == "csv":
        if planned.layout is None:
            raise ValueError("an empty CSV file has no rows")
        return CsvFormat(planned.layout, job.edits_column, job.write)
    if planned.source.format == "jsonl":
        return JsonLinesFormat(job.column, job.edits_column, job.write)
    return TextFormat(job.write)


def disk_error_message(error: OSError, output: str) -> str:
    """One sentence about an error of the disk, and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _(
            "the disk of {output} is full; free some space and run the same command again to resume."
        ).format(output=output)
    problem = f"{error.filename}: {reason(error)}" if error.filename else reason(error)
    return _("{problem}; fix that and run the same command again to resume.").format(problem=problem)
