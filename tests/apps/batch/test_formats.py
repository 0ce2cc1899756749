"""Only the text is replaced: every other byte of a row, and every other column, stays what it was."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmspeller.apps.batch import rows
from nmspeller.apps.batch.formats import BadRow
from nmspeller.apps.batch.formats.csv import spans, value
from nmspeller.apps.batch.formats.jsonl import JsonLinesFormat
from nmspeller.apps.batch.job import Write
from nmspeller.apps.batch.rows import MAX_ROW_BYTES, csv_rows, lines
from nmspeller.errors import InputError
from nmspeller.runtime.correction import Correction


def test_text_keeps_line_ends_blank_lines_and_the_mark(correct):
    files = {"a.txt": "\ufeff我己经来了。\r\n你好。\n\n最后在见".encode()}
    written, summary = correct(files)
    assert written == {"a.txt": "\ufeff我已经来了。\r\n你好。\n\n最后再见".encode()}
    assert (summary["rows"], summary["texts"], summary["sentences"], summary["changed"]) == (4, 3, 3, 2)
    assert summary["edits_by_reason"] == {"similar_shape": 1, "same_sound": 1}


def test_text_with_edits_becomes_json_lines(correct):
    files = {"a.txt": "我己经\n好\n".encode()}
    edit = {
        "offset": 1,
        "length": 1,
        "source": "己",
        "target": "已",
        "probability": 0.9877,
        "confidence": 0.8765,
        "alternatives": ["以"],
        "reason": "similar_shape",
    }
    written, _ = correct(files, write=Write.BOTH)
    assert [json.loads(line) for line in written["a.txt.jsonl"].splitlines()] == [
        {"text": "我己经", "corrected": "我已经", "edits": [edit]},
        {"text": "好", "corrected": "好", "edits": []},
    ]
    written, _ = correct(files, write=Write.EDITS, output="edits")
    assert json.loads(written["a.txt.jsonl"].splitlines()[0]) == {"text": "我己经", "edits": [edit]}


def test_json_lines_change_nothing_but_the_text(correct):
    rows = [
        '{ "id": 1.0e5, "n": 12345678901234567890.50, "text":"我己经" , "x": {"text": "己"} }',
        '{"text":"\\u6211\\u5df1","é":"\\u00e9"}',
        '{"text": null}\r',
        "",
        '{"text": "好", "a": 1, "a": 2}',
    ]
    written, summary = correct({"a.jsonl": "\n".join(rows).encode()})
    expected = [
        rows[0].replace("我己经", "我已经"),
        '{"text":"\\u6211\\u5df2","é":"\\u00e9"}',
        *rows[2:],
    ]
    assert written["a.jsonl"].decode() == "\n".join(expected)
    assert summary["texts"] == 3


def test_json_lines_with_edits_gain_one_key(correct):
    written, _ = correct({"a.jsonl": '{"text": "我己经", "id": 7}\n'.encode()}, write=Write.BOTH)
    row = json.loads(written["a.jsonl"])
    assert list(row) == ["text", "id", "text_edits"]
    assert row["text"] == "我已经"
    assert [edit["target"] for edit in row["text_edits"]] == ["已"]
    written, _ = correct({"a.jsonl": '{"text": "我己经", "id": 7}\n'.encode()}, write=Write.EDITS, output="e")
    assert json.loads(written["a.jsonl"])["text"] == "我己经"


@pytest.mark.parametrize(
    "row",
    [
        b"{",
        b"[1]",
        b'{"text": "a"} x',
        b'{"text": 1}',
        b'{"id": 1}',
        b'{"text": "a",}',
        b'{"text" "a"}',
        b"\xff",
        b'{"text": "\xb0\xa1"}',
        b"[" * 100_000,
        b'{"text": ' + b"[" * 100_000,
    ],
    ids=range(11),
)
def test_json_lines_that_cannot_be_read_are_set_aside_whole(correct, row):
    written, summary = correct({"a.jsonl": b'{"text": "a"}\n' + row + b'\n{"text": "b"}\n'})
    assert written["a.jsonl"] == b'{"text": "a"}\n{"text": "b"}\n'
    record = json.loads(written["nmspeller-quarantine.jsonl"])
    assert record["row"] == 2
    assert record["reason"]
    assert summary["quarantined"] == 1


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), _JSON, max_size=4), st.text(min_size=1), st.text(), st.booleans())
def test_json_lines_agree_with_the_standard_library(others, text, corrected, ascii_only):
    row = {**others, "text": text}
    raw = json.dumps(row, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    try:
        parsed = JsonLinesFormat("text", "text_edits", Write.CORRECTED).parse(raw)
    except BadRow:
        assert any("\ud800" <= sign <= "\udfff" for sign in raw.decode("utf-8", "surrogatepass"))
        return
    assert parsed.text == text
    assert parsed.write(Correction(text, text, ())) == raw
    edited = Correction(text, corrected, (object(),))  # type: ignore[arg-type]
    assert json.loads(parsed.write(edited)) == {**row, "text": corrected}


def test_csv_keeps_its_dialect(correct):
    content = '"id";text;"note, long"\r\n1;"我己经\r\n""来""了";x\r\n2;在见;"q"\r\n\r\n3;;\r\n'
    written, summary = correct({"a.csv": content.encode()})
    assert written["a.csv"].decode() == content.replace("己", "已").replace("在", "再")
    assert (summary["rows"], summary["texts"]) == (4, 2)


def test_csv_with_edits_gains_a_last_column(correct):
    content = "\ufefftext,id\n我己经,1\n好,2\n"
    written, _ = correct({"a.csv": content.encode()}, write=Write.BOTH)
    rows = list(csv.reader(io.StringIO(written["a.csv"].decode("utf-8-sig"))))
    assert rows[0] == ["text", "id", "text_edits"]
    assert rows[1][:2] == ["我已经", "1"]
    assert json.loads(rows[1][2])[0]["target"] == "已"
    assert rows[2] == ["好", "2", "[]"]


def test_a_stray_quote_costs_one_row(correct):
    content = 'text,id\n己,1\n"己,2\n己,3\n己,4,5\n己,6\n'
    written, summary = correct({"a.csv": content.encode()}, shard_bytes=8)
    assert written["a.csv"].decode() == "text,id\n已,1\n已,3\n已,6\n"
    quarantine = [json.loads(line) for line in written["nmspeller-quarantine.jsonl"].splitlines()]
    assert [(record["row"], record["content"]) for record in quarantine] == [(2, '"己,2\n'), (4, "己,4,5\n")]
    assert summary["quarantined"] == 2


def test_stray_quotes_do_not_have_lines_searched_again_and_again(monkeypatch):
    searched = []

    def ends_inside_quotes(line, inside, delimiter, truly=rows._ends_inside_quotes):
        searched.append(line)
        return truly(line, inside, delimiter)

    monkeypatch.setattr(rows, "_ends_inside_quotes", ends_inside_quotes)
    stray = '他说"好,"然后走了\n'.encode()
    assert [row.raw for row in csv_rows(lines(io.BytesIO(stray * 500)), ",")] == [stray] * 500
    # Once as the line a row begins with, once as one that may end a quote.
    assert len(searched) < 2 * 500


def test_the_end_of_a_quote_may_stand_where_an_earlier_search_gave_up(monkeypatch):
    monkeypatch.setattr(rows, "MAX_ROW_BYTES", 12)
    content = b'"aaaaaa\nx"b,"c\nd"\nf\n'
    cut = [row.raw for row in csv_rows(lines(io.BytesIO(content)), ",")]
    assert cut == [b'"aaaaaa\n', b'x"b,"c\nd"\n', b"f\n"]


@pytest.mark.parametrize("name", ["a.tsv", "A.TSV"])
def test_a_tab_comes_first_in_a_tsv_file(correct, name):
    written, summary = correct({name: "text\n你在,我也\n".encode()})
    assert written == {name: "text\n你再,我也\n".encode()}
    assert summary["quarantined"] == 0


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_a_csv_header_may_hold_a_quoted_line_end(correct, delimiter):
    content = 'text,"a\nb"\r\n己,1\r\n"己\n己",2\r\n'.replace(",", delimiter)
    written, summary = correct({"a.csv": content.encode()}, shard_bytes=1)
    assert written == {"a.csv": content.replace("己", "已").encode()}
    assert summary["rows"] == 2
    written, _ = correct({"a.csv": content.encode()}, write=Write.EDITS, output="edits")
    assert written["a.csv"].startswith(f'text{delimiter}"a\nb"{delimiter}text_edits\r\n'.encode())


@pytest.mark.parametrize("write", list(Write))
def test_csv_columns_that_share_a_name_stay_unless_the_text_is_in_one_of_them(correct, write):
    content = 'note,text,"note",id,id\n己,己,"己",1,2\n'
    written, _ = correct({"a.csv": content.encode()}, write=write)
    header, row = csv.reader(io.StringIO(written["a.csv"].decode()))
    assert header[:5] == ["note", "text", "note", "id", "id"]
    assert row[:5] == ["己", "己" if write is Write.EDITS else "已", "己", "1", "2"]
    with pytest.raises(InputError, match="has two columns 'note'; give one of them another name"):
        correct({"a.csv": content.encode()}, column="note", write=write, output="other")


def test_csv_without_the_column_names_the_columns_there_are(correct):
    with pytest.raises(InputError, match="title, body"):
        correct({"a.csv": b"title\tbody\nx\ty\n"})


_FIELD = st.text(st.sampled_from('ab己,;"\n ') | st.characters(exclude_characters="\r\0", codec="utf-8"))


@given(st.lists(st.lists(_FIELD, min_size=2, max_size=4), min_size=1), st.sampled_from([",", ";", "\t"]))
def test_csv_rows_and_fields_agree_with_the_standard_library(table, delimiter):
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(table)
    cut = list(csv_rows(lines(io.BytesIO(stream.getvalue().encode())), delimiter))
    assert b"".join(row.raw for row in cut) == stream.getvalue().encode()
    rows = [row.raw.decode().removesuffix("\n") for row in cut]
    assert [[value(row[slice(*span)]) for span in spans(row, delimiter)] for row in rows] == table


def test_a_row_that_is_too_long_is_set_aside_and_never_held(correct):
    long = b"x" * (MAX_ROW_BYTES + 10)
    assert [(len(row.raw), row.size) for row in lines(io.BytesIO(long * 3 + b"\n" + b"a\n"))] == [
        (MAX_ROW_BYTES + 1, 3 * len(long) + 1),
        (2, 2),
    ]
    written, _ = correct({"a.txt": "己\n".encode() + long + "\n在\n".encode()})
    assert written["a.txt"].decode() == "已\n再\n"
    record = json.loads(written["nmspeller-quarantine.jsonl"])
    assert record["reason"] == "longer than 4 MiB"
    assert "content" not in record


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "a.txt.gz", "a.csv.zst"])
def test_an_empty_file_stays_empty(correct, name):
    from nmspeller.apps.batch.sources import compress

    suffix = name[5:] if name.count(".") == 2 else ""
    written, summary = correct({name: compress(b"", suffix)})
    assert written == {name: compress(b"", suffix)}
    assert summary["rows"] == 0
