"""Parquet files: what stays as it was, what is added, and what is refused."""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nmspeller.apps.batch import Write
from nmspeller.errors import InputError


def _table():
    return pa.table(
        {
            "id": pa.array([1, 2, 3, 4], pa.int16()),
            "text": ["我己经", None, "爆", "在见"],
            "nested": [[{"a": 1}], [], None, [{"a": 2}]],
        }
    ).replace_schema_metadata({"made by": "hand"})


def _parquet(table, **options):
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def test_parquet_keeps_every_other_column_types_groups_and_metadata(correct):
    content = _parquet(_table(), row_group_size=3, compression="gzip")
    written, summary = correct({"a.parquet": content}, shard_bytes=1)
    file = pq.ParquetFile(io.BytesIO(written["a.parquet"]))
    table = file.read()
    given = pq.read_table(io.BytesIO(content)).take([0, 1, 3])
    assert table.drop(["text"]).equals(given.drop(["text"]), check_metadata=True)
    assert table.schema.equals(given.schema, check_metadata=True)
    assert table["text"].to_pylist() == ["我已经", None, "再见"]
    assert [file.metadata.row_group(at).num_rows for at in range(2)] == [2, 1]
    assert file.metadata.row_group(0).column(0).compression == "GZIP"
    assert json.loads(written["nmspeller-quarantine.jsonl"])["row"] == 3
    assert summary["shards"] == 4


def test_parquet_with_edits_gains_a_column(correct):
    written, _ = correct({"a.parquet": _parquet(_table())}, write=Write.EDITS)
    rows = pq.read_table(io.BytesIO(written["a.parquet"])).to_pylist()
    assert rows[0]["text"] == "我己经"
    assert [edit["target"] for edit in rows[0]["text_edits"]] == ["已"]
    assert rows[1]["text_edits"] == []


@pytest.mark.parametrize("texts", [[], ["爆", "爆"], [None, ""]])
def test_parquet_without_a_text_to_correct(correct, texts):
    table = pa.table({"text": pa.array(texts, pa.large_string()), "id": pa.array(range(len(texts)))})
    written, summary = correct({"a.parquet": _parquet(table)}, write=Write.BOTH)
    kept = pq.read_table(io.BytesIO(written["a.parquet"]))
    assert kept.schema.names == ["text", "id", "text_edits"]
    assert kept.schema.field("text").type == pa.large_string()
    assert kept["text"].to_pylist() == [text for text in texts if text != "爆"]
    assert summary["quarantined"] == texts.count("爆")


@pytest.mark.parametrize(
    ("kind", "offsets"), [(pa.string(), np.array([0, 2, 5], "i4")), (pa.large_string(), np.array([0, 2, 5]))]
)
def test_a_parquet_string_that_is_not_utf_8_is_set_aside(correct, kind, offsets):
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"\xff\xfe" + "在".encode())]
    table = pa.table({"text": pa.Array.from_buffers(kind, 2, buffers), "id": [1, 2]})
    written, summary = correct({"a.parquet": _parquet(table)})
    assert pq.read_table(io.BytesIO(written["a.parquet"])).to_pylist() == [{"text": "再", "id": 2}]
    record = json.loads(written["nmspeller-quarantine.jsonl"])
    assert (record["row"], record["reason"], record["base64"]) == (1, "its 'text' is not UTF-8", "//4=")
    assert summary["quarantined"] == 1


def test_parquet_columns_that_arrow_cannot_filter(correct):
    views = pa.array(["a view of more than twelve bytes", None, "b", "c"], pa.string_view())
    table = pa.table({"text": ["己", "爆", "爆", "在"], "view": views})
    written, _ = correct({"a.parquet": _parquet(table)})
    assert pq.read_table(io.BytesIO(written["a.parquet"])).to_pylist() == [
        {"text": "已", "view": "a view of more than twelve bytes"},
        {"text": "再", "view": "c"},
    ]


@pytest.mark.parametrize("damage", [slice(4, 40), slice(-60, -20)], ids=["a page", "the footer"])
def test_a_damaged_parquet_file_is_named(correct, damage):
    content = bytearray(_parquet(_table(), compression="gzip"))
    content[damage] = b"\xff" * len(content[damage])
    with pytest.raises(InputError, match=r"^\S*/in/a\.parquet is [^;]*; create the file again\.$"):
        correct({"a.parquet": bytes(content)})


@pytest.mark.parametrize("names", [["text", "text"], ["text", "id", "id"]])
def test_parquet_with_two_columns_of_one_name_is_rejected(correct, names):
    table = pa.table([["己"]] * len(names), names=names)
    with pytest.raises(InputError, match=f"has two columns '{names[-1]}'; give one of them another name"):
        correct({"a.parquet": _parquet(table)})


@pytest.mark.parametrize(("column", "says"), [("none", "id, text, nested"), ("id", "int16")])
def test_parquet_without_a_text_column_is_rejected(correct, column, says):
    with pytest.raises(InputError, match=says):
        correct({"a.parquet": _parquet(_table())}, column=column)
