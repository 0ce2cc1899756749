"""A job is the same whatever its shards, workers and interruptions, and never mixes with another."""

import bz2
import gzip
import json
import lzma
import os
import signal

import fsspec
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmspeller.apps.batch import BatchJob, Interrupted, SpellerSettings, Write, run
from nmspeller.apps.batch.local import LocalEngine
from nmspeller.apps.batch.progress import JobProgress
from nmspeller.errors import InputError

LINES = "".join(f"第{number}行我己经来了。在见！\n" for number in range(200)).encode()
FIXED = LINES.decode().replace("己", "已").replace("在", "再").encode()
STAND_IN = SpellerSettings(factory="stand_in_speller:StandIn")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shard_bytes", [100, 1000, 1 << 20])
def test_the_output_does_not_depend_on_shards_or_their_order(correct, here_engine, shard_bytes, reverse):
    written, summary = correct({"a.txt": LINES}, engine=here_engine(reverse), shard_bytes=shard_bytes)
    assert written == {"a.txt": FIXED}
    assert summary["rows"] == 200


_UNPACK = {
    "gz": gzip.decompress,
    "bz2": bz2.decompress,
    "xz": lzma.decompress,
    "zst": lambda data: zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read(),
}
_PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}


@pytest.mark.parametrize("suffix", _PACK)
def test_compressed_files_stay_compressed(correct, suffix):
    half = len(LINES) // 2
    packed = _PACK[suffix](LINES[:half]) + _PACK[suffix](LINES[half:])
    written, _ = correct({f"a.txt.{suffix}": packed}, shard_bytes=1000)
    assert list(written) == [f"a.txt.{suffix}"]
    assert _UNPACK[suffix](written[f"a.txt.{suffix}"]) == FIXED


@pytest.mark.parametrize("suffix", _PACK)
def test_a_damaged_file_is_rejected_in_a_sentence(correct, suffix):
    with pytest.raises(InputError, match="is damaged"):
        correct({f"a.txt.{suffix}": _PACK[suffix](LINES)[:-20]})


def test_a_stopped_job_resumes(correct, here_engine):
    files = {"a.txt": LINES, "b.txt.gz": gzip.compress(LINES, mtime=0)}
    undisturbed, _ = correct(files, output="undisturbed", shard_bytes=700)
    with pytest.raises(Interrupted, match=r"stopped with 3 of .* shards done; run the same command again"):
        correct(files, engine=here_engine(reverse=True, stop_after=3), shard_bytes=700)
    second = here_engine()
    written, summary = correct(files, engine=second, shard_bytes=700)
    assert written == undisturbed
    assert summary["shards_done_before"] == 3
    assert len(second.corrected) == summary["shards"] - 3


def test_a_finished_job_is_not_done_again(correct, here_engine):
    first, summary = correct({"a.txt": LINES})
    engine = here_engine()
    assert correct({"a.txt": LINES}, engine=engine) == (first, summary)
    assert engine.corrected == []


def test_an_output_that_was_removed_is_made_again(correct, tmp_path):
    first, _ = correct({"a.txt": LINES})
    (tmp_path / "out" / "a.txt").unlink()
    assert correct({"a.txt": LINES})[0] == first


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"speller": SpellerSettings("other", factory=STAND_IN.factory)}, "another model"),
        (
            {"speller": SpellerSettings(level="strict", factory=STAND_IN.factory)},
            "--level: 'balanced', not 'st",
        ),
        (
            {"speller": SpellerSettings(device="cuda", factory=STAND_IN.factory)},
            "--device: 'cpu', not 'cuda'",
        ),
        (
            {"speller": SpellerSettings(prefilter=True, factory=STAND_IN.factory)},
            "--prefilter: False, not True",
        ),
        ({"speller": SpellerSettings(words=("己经",), factory=STAND_IN.factory)}, "--words: another file"),
        ({"write": Write.BOTH}, "--write: 'corrected', not 'both'"),
        ({"column": "body"}, "--column: 'text', not 'body'"),
        ({"shard_bytes": 7}, "--shard-size"),
    ],
)
def test_models_and_options_are_never_mixed(correct, here_engine, finished, changed, says):
    if finished:
        correct({"a.txt": LINES}, shard_bytes=700)
    else:
        with pytest.raises(Interrupted):
            correct({"a.txt": LINES}, engine=here_engine(stop_after=2), shard_bytes=700)
    with pytest.raises(InputError, match=says):
        correct({"a.txt": LINES}, **{"shard_bytes": 700, **changed})


def test_input_that_changed_is_rejected_and_input_that_was_only_touched_is_not(
    correct, here_engine, tmp_path
):
    with pytest.raises(Interrupted):
        correct({"a.txt": LINES}, engine=here_engine(stop_after=2), shard_bytes=700)
    with pytest.raises(InputError, match="other input files"):
        correct({"a.txt": LINES, "b.txt": LINES}, shard_bytes=700)
    path = tmp_path / "in" / "a.txt"
    path.write_bytes(LINES[::-1])
    with pytest.raises(InputError, match="has changed since"):
        run(BatchJob((str(path),), str(tmp_path / "out"), speller=STAND_IN, shard_bytes=700), here_engine())
    path.write_bytes(LINES)
    assert correct({"a.txt": LINES}, shard_bytes=700)[0] == {"a.txt": FIXED}


def test_a_finished_job_rejects_input_that_changed_and_not_what_was_only_touched(correct, tmp_path):
    first = correct({"a.txt": LINES, "b.txt": LINES})
    os.utime(tmp_path / "in" / "b.txt", (1, 1))
    assert correct({"a.txt": LINES, "b.txt": LINES}) == first
    with pytest.raises(InputError, match=r"b\.txt has changed since the job in .*out read it"):
        correct({"a.txt": LINES, "b.txt": LINES[::-1]})
    assert (tmp_path / "out" / "b.txt").read_bytes() == FIXED


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("doing", ["reading", "writing the output"])
def test_a_job_outside_its_shards_stops_at_once_and_resumes(tmp_path, here_engine, number, doing):
    class Stopping(JobProgress):
        def show(self, sentence):
            if sentence.startswith(doing):
                os.kill(os.getpid(), number)

    (tmp_path / "a.txt").write_bytes(LINES)
    job = BatchJob((str(tmp_path / "a.txt"),), str(tmp_path / "out"), speller=STAND_IN)
    heard = []
    before = signal.signal(number, lambda *_: heard.append(number))
    try:
        with pytest.raises(Interrupted, match=r"^stopped; run the same command again to resume\.$"):
            run(job, here_engine(), progress=Stopping(quiet=True))
        assert heard == []
        os.kill(os.getpid(), number)
        assert heard == [number]
    finally:
        signal.signal(number, before)
    run(job, here_engine())
    assert (tmp_path / "out" / "a.txt").read_bytes() == FIXED


def test_input_that_changes_under_way_is_noticed(correct, here_engine, tmp_path):
    class Meddling(here_engine):
        def correct(self, order, shards, stop):
            for entry in super().correct(order, shards, stop):
                (tmp_path / "in" / "a.txt").write_bytes(LINES.replace(b"1", b"2"))
                yield entry

    with pytest.raises(InputError, match="has changed since"):
        correct({"a.txt": LINES}, engine=Meddling(), shard_bytes=700)
    assert not (tmp_path / "out" / "a.txt").exists()


def test_a_torn_shard_is_done_again(correct, here_engine, tmp_path):
    with pytest.raises(Interrupted):
        correct({"a.txt": LINES}, engine=here_engine(stop_after=4), shard_bytes=700)
    done = tmp_path / "out" / ".nmspeller-batch" / "done"
    (done / "00000001.data").write_bytes(b"torn")
    (done / "00000002.json").write_bytes(b'{"shard"')
    half_written = [done / f"00000003.data.{'0' * 16}.aside", tmp_path / "out" / f"a.txt.{'0' * 16}.aside"]
    for path in half_written:
        path.write_bytes(b"half")
    damaged = done / "00000000.data"
    damaged.write_bytes(b"x" * damaged.stat().st_size)
    engine = here_engine()
    with pytest.raises(InputError, match="shard 0 was damaged"):
        correct({"a.txt": LINES}, engine=engine, shard_bytes=700)
    assert engine.corrected[:2] == [1, 2]
    assert correct({"a.txt": LINES}, shard_bytes=700)[0] == {"a.txt": FIXED}


def test_too_many_bad_rows_stop_the_job_which_can_then_go_on(correct):
    files = {"a.txt": LINES + "爆\n".encode() * 50}
    with pytest.raises(InputError, match=r"50 of 250 rows .* share of 0.1;.*--max-bad-share"):
        correct(files, max_bad_share=0.1)
    written, summary = correct(files, max_bad_share=0.2)
    assert written["a.txt"] == FIXED
    records = [json.loads(line) for line in written["nmspeller-quarantine.jsonl"].splitlines()]
    assert [record["row"] for record in records] == list(range(201, 251))
    assert records[0]["reason"] == "the speller failed: ValueError: this text cannot be checked"
    assert summary["quarantined"] == 50


def test_one_bad_text_does_not_spoil_those_around_it(correct):
    written, _ = correct({"a.txt": "己\n爆\n在\n".encode()})
    assert written["a.txt"].decode() == "已\n再\n"


def test_repeated_texts_are_checked_once_and_the_cache_changes_nothing(correct):
    files = {"a.txt": "我己经\n在见\n".encode() * 20}
    with_cache, summary = correct(files, shard_bytes=50)
    assert summary["remembered"] == 38
    without, summary = correct(files, shard_bytes=50, cache=0, output="without")
    assert summary["remembered"] == 0
    tiny, summary = correct(files, shard_bytes=1, cache=1, output="tiny")
    assert summary["remembered"] == 0
    assert with_cache == without == tiny


def test_words_are_left_alone(correct):
    words = SpellerSettings(words=("己经",), factory=STAND_IN.factory)
    assert (
        correct({"a.txt": "我己经。自己\n".encode()}, speller=words)[0]["a.txt"].decode() == "我己经。自已\n"
    )


def test_any_fsspec_address(here_engine):
    fs = fsspec.filesystem("memory")
    fs.pipe("/collection/a.txt", LINES)
    fs.pipe("/collection/b.csv.gz", gzip.compress("id,text\n1,己\n".encode()))
    job = BatchJob(("memory://collection",), "memory://corrected", speller=STAND_IN, shard_bytes=500)
    with pytest.raises(Interrupted):
        run(job, here_engine(stop_after=2))
    run(job, here_engine())
    assert fs.cat_file("/corrected/a.txt") == FIXED
    assert gzip.decompress(fs.cat_file("/corrected/b.csv.gz")).decode() == "id,text\n1,已\n"
    assert fs.find("/corrected") == [
        "/corrected/a.txt",
        "/corrected/b.csv.gz",
        "/corrected/nmspeller-batch.json",
    ]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    content=st.binary(max_size=200), shard_bytes=st.integers(1, 64), format=st.sampled_from(["text", "jsonl"])
)
def test_any_bytes_are_either_written_or_set_aside(here_engine, content, shard_bytes, format):
    fs = fsspec.filesystem("memory")
    fs.rm("/fuzz", recursive=True) if fs.exists("/fuzz") else None
    fs.pipe("/fuzz/in", content)
    job = BatchJob(
        ("memory://fuzz/in",), "memory://fuzz/out", format=format, speller=STAND_IN, shard_bytes=shard_bytes
    )
    summary = run(job, here_engine(), max_bad_share=1)
    assert summary["rows"] == content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
    kept = fs.cat_file("/fuzz/out/in")
    written = kept.count(b"\n") + (not kept.endswith(b"\n") and kept != b"")
    assert written + summary["quarantined"] == summary["rows"]


def test_processes_write_the_same_bytes_whatever_their_number(correct):
    files = {"a.txt": LINES, "b.jsonl": b'{"text": "\xe5\xb7\xb1"}\n' * 50}
    alone, _ = correct(files, output="alone", shard_bytes=300)
    for workers in (1, 3):
        engine = LocalEngine(workers)
        assert correct(files, output=f"with{workers}", engine=engine, shard_bytes=300)[0] == alone


def test_two_jobs_cannot_write_to_one_folder(correct, here_engine):
    class Nested(here_engine):
        def correct(self, order, shards, stop):
            with pytest.raises(InputError, match="another job is writing"):
                run(order.job, here_engine())
            yield from super().correct(order, shards, stop)

    assert correct({"a.txt": LINES}, engine=Nested())[0] == {"a.txt": FIXED}
