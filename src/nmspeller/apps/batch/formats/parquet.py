"""Parquet: the text column is replaced, every other column is copied."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nmspeller.apps.batch.formats import BadRow, edits_as_json
from nmspeller.apps.batch.job import Write
from nmspeller.errors import InputError
from nmspeller.messages import N_, _
from nmspeller.runtime.correction import Correction

_NOT_PARQUET = N_("{name} is not a Parquet file ({details}); create the file again.")
_DAMAGED = N_("{name} is damaged ({details}); create the file again.")

EDITS_TYPE = pa.list_(
    pa.struct(
        [
            ("offset", pa.int64()),
            ("length", pa.int64()),
            ("source", pa.string()),
            ("target", pa.string()),
            ("probability", pa.float64()),
            ("confidence", pa.float64()),
            ("alternatives", pa.list_(pa.string())),
            ("reason", pa.string()),
        ]
    )
)


def open_parquet(stream: Any, name: str) -> pq.ParquetFile:
    """An open file, read in small pieces."""
    with _damage_as_input_error(name, _NOT_PARQUET):
        return pq.ParquetFile(stream, buffer_size=1 << 20)


@contextmanager
def _damage_as_input_error(name: str, sentence: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        # An error of the disk has an errno, an error of Arrow about the content has none.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        details = " ".join(str(error).split()).rstrip(".")
        raise InputError(_(sentence).format(name=name, details=details)) from error


def check_schema(schema: pa.Schema, column: str, edits_column: str | None, name: str) -> None:
    """Raise InputError if the text column is missing or not text, or column names are not unique."""
    if twice := [known for known, count in Counter(schema.names).items() if count > 1]:
        raise InputError(
            _("{name} has two columns {column!r}; give one of them another name.").format(
                name=name, column=twice[0]
            )
        )
    if column not in schema.names:
        raise InputError(
            _("{name} has no column {column!r}; choose with --column among {columns}.").format(
                name=name, column=column, columns=", ".join(schema.names)
            )
        )
    kind = schema.field(column).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise InputError(
            _(
                "column {column!r} of {name} holds {kind} and not strings; choose another with --column."
            ).format(column=column, name=name, kind=kind)
        )
    if edits_column in schema.names:
        raise InputError(
            _("{name} has a column {column!r} already, where the edits would go.").format(
                name=name, column=edits_column
            )
        )


def output_schema(schema: pa.Schema, edits_column: str, write: Write) -> pa.Schema:
    """The schema that is written, with the file's own metadata."""
    return schema if write is Write.CORRECTED else schema.append(pa.field(edits_column, EDITS_TYPE))


def read_rows(
    file: pq.ParquetFile, name: str, group: int, start: int, stop: int, batch: int
) -> Iterator[pa.RecordBatch]:
    """Rows start to stop of a row group, in batches, without loading all of it; `name` is the file's."""
    at = 0
    with _damage_as_input_error(name, _DAMAGED):
        batches = file.iter_batches(batch, row_groups=[group])
    while True:
        with _damage_as_input_error(name, _DAMAGED):
            records = next(batches, None)
        if records is None:
            return
        first, last = max(start - at, 0), min(stop - at, len(records))
        if first < last:
            yield records.slice(first, last - first)
        at += len(records)
        if at >= stop:
            return


def only(records: pa.RecordBatch, kept: list[bool]) -> pa.RecordBatch:
    """The records that are kept; Arrow's own filter does not support every column type."""
    runs = []
    at = 0
    for keep, run in groupby(kept):
        count = len(list(run))
        if keep:
            runs.append(records.slice(at, count))
        at += count
    return pa.concat_batches(runs or [records.slice(0, 0)])


def raw_texts(records: pa.RecordBatch, column: str) -> list[bytes | None]:
    """The texts as stored; Arrow does not guarantee that a string is valid UTF-8."""
    stored = records.column(column)
    binary = pa.large_binary() if pa.types.is_large_string(stored.type) else pa.binary()
    raw: list[bytes | None] = stored.cast(binary).to_pylist()
    return raw


def decode_text(raw: bytes | None, column: str) -> str | BadRow | None:
    """A text, None if it is null or empty, a BadRow if it is not UTF-8."""
    try:
        return raw.decode() or None if raw is not None else None
    except UnicodeDecodeError:
        return BadRow(f"its {column!r} is not UTF-8")


def rewrite(
    records: pa.RecordBatch,
    corrections: list[Correction | None],
    column: str,
    edits_column: str,
    write: Write,
) -> pa.RecordBatch:
    """The records with their corrections applied, one per record, None for a record without a text."""
    at = records.schema.get_field_index(column)
    if write is not Write.EDITS:
        texts = [
            old if correction is None else correction.text
            for old, correction in zip(records.column(at).to_pylist(), corrections, strict=True)
        ]
        records = records.set_column(
            at, records.schema.field(at), pa.array(texts, records.schema.field(at).type)
        )
    if write is not Write.CORRECTED:
        edits = pa.array([edits_as_json(correction) for correction in corrections], EDITS_TYPE)
        records = records.append_column(pa.field(edits_column, EDITS_TYPE), edits)
    return records


def codec(file: pq.ParquetFile) -> str:
    """The compression the file was written with."""
    if file.metadata.num_row_groups == 0 or file.metadata.num_columns == 0:
        return "NONE"
    name: str = file.metadata.row_group(0).column(0).compression
    return "NONE" if name == "UNCOMPRESSED" else name
