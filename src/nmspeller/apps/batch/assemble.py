"""Join finished shards in input order."""

import hashlib
import io
from collections.abc import Iterator
from typing import IO, Any

from nmspeller.apps.batch.filesystem import file_system
from nmspeller.apps.batch.formats.csv import CsvFormat
from nmspeller.apps.batch.job import BatchJob
from nmspeller.apps.batch.plan import Plan, PlannedSource, Shard
from nmspeller.apps.batch.sources import compress
from nmspeller.apps.batch.store import QUARANTINE, Entries, Store
from nmspeller.apps.batch.verify import Facts, check_written
from nmspeller.errors import InputError
from nmspeller.messages import _

# A row group larger than this is written in parts, so that memory stays bounded.
_GROUP_BYTES = 64 << 20


def assemble(job: BatchJob, plan: Plan, entries: Entries, store: Store) -> dict[int, Facts]:
    """Write every output file that does not exist yet; returns the facts about all of them.

    A file's shards are removed once it was read back from the disk, so that at most one file takes its space
    twice.
    """
    outputs = store.outputs()
    shards: dict[int, list[Shard]] = {}
    for shard in plan.shards:
        shards.setdefault(shard.source, []).append(shard)
    for index, planned in enumerate(plan.sources):
        mine = shards.get(index, [])
        if index not in outputs:
            with store.output.writing(planned.source.name) as stream:
                out = _Counting(stream)
                parts = _parts(mine, entries, store)
                if planned.source.format == "parquet":
                    _join_parquet(job, planned, mine, parts, out)
                else:
                    _join_bytes(job, planned, parts, out)
            outputs[index] = {
                "name": planned.source.name,
                "rows": sum(entries[s.number]["rows"] - entries[s.number]["quarantined"] for s in mine),
                "size": out.size,
                "sha256": out.hash.hexdigest(),
            }
            check_written(outputs[index], store.output)
            store.finish_output(index, outputs[index])
        for shard in mine:
            store.work.remove(store.data_name(shard.number))
    return outputs


def write_quarantine(entries: Entries, store: Store) -> Facts | None:
    """One JSON object per quarantined row, in input order; neither a file nor facts about it without any."""
    affected = [number for number in sorted(entries) if entries[number]["quarantined"]]
    if not affected:
        store.output.remove(QUARANTINE)
        return None
    with store.output.writing(QUARANTINE) as stream:
        out = _Counting(stream)
        for number in affected:
            out.write(
                _whole(store.quarantine_name(number), number, entries[number]["quarantine_sha256"], store)
            )
    facts = {"name": QUARANTINE, "size": out.size, "sha256": out.hash.hexdigest()}
    check_written(facts, store.output)
    return facts


class _Counting(io.RawIOBase):
    """A stream that counts and hashes what is written through it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.size = 0
        self.hash = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(data)
        self.hash.update(data)
        size = memoryview(data).nbytes
        self.size += size
        return size


def _parts(shards: list[Shard], entries: Entries, store: Store) -> Iterator[bytes]:
    """The data of the shards, each verified by its hash; one shard at a time is in memory."""
    for shard in shards:
        number = shard.number
        yield _whole(store.data_name(number), number, entries[number]["sha256"], store)


def _whole(name: str, number: int, sha256: str, store: Store) -> bytes:
    """A file of a finished shard; if it is not as it was written, the shard has to be corrected again."""
    content = store.work.read(name)
    if content is None or hashlib.sha256(content).hexdigest() != sha256:
        store.forget(number)
        raise InputError(
            _("shard {number} was damaged on disk; run the same command again to redo it.").format(
                number=number
            )
        )
    return content


def _join_bytes(job: BatchJob, planned: PlannedSource, parts: Iterator[bytes], out: _Counting) -> None:
    header = b""
    if planned.layout is not None:
        format = CsvFormat(planned.layout, job.edits_column, job.write)
        header = format.header(planned.header.encode())
    if header or not planned.rows:
        out.write(compress(header, planned.source.compression))
    for part in parts:
        out.write(part)


def _join_parquet(
    job: BatchJob, planned: PlannedSource, shards: list[Shard], parts: Iterator[bytes], out: _Counting
) -> None:
    """Row groups stay those of the input, unless one is too large for memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from nmspeller.apps.batch.formats import parquet

    fs, path = file_system(planned.source.address)
    with fs.open(path, "rb") as stream:
        file = parquet.open_parquet(stream, planned.source.shown)
        schema = parquet.output_schema(file.schema_arrow, job.edits_column, job.write)
        compression = parquet.codec(file)
    tables: list[Any] = []
    with pq.ParquetWriter(out, schema, compression=compression) as writer:

        def flush() -> None:
            if tables:
                table = pa.concat_tables(tables)
                writer.write_table(table, row_group_size=max(len(table), 1))
                tables.clear()

        group = None
        for shard, part in zip(shards, parts, strict=True):
            if shard.group != group or sum(table.nbytes for table in tables) > _GROUP_BYTES:
                flush()
            group = shard.group
            tables.append(pq.read_table(io.BytesIO(part), schema=schema))
        flush()
