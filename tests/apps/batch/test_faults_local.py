"""Whatever happens to a job on one machine, running it again gives what an undisturbed run would have."""

import os
import signal
import time
from pathlib import Path

import batch_faults as faults
import pytest
from tests.waiting import wait_until

from nmspeller.apps.batch import run
from nmspeller.apps.batch.local import LocalEngine
from nmspeller.errors import InputError


@pytest.fixture
def workers(tmp_path):
    return faults.Workers(tmp_path / "workers")


def test_a_killed_worker_is_replaced(tmp_path, workers):
    workers.reset(0.02)
    batch = faults.start(tmp_path, tmp_path / "out", workers)
    os.kill(workers.wait_for(1)[0], signal.SIGKILL)
    _, err = batch.communicate(timeout=300)
    assert batch.returncode == 0, err
    faults.is_undisturbed(tmp_path / "out")


def test_a_text_that_kills_every_worker_is_named(tmp_path):
    (tmp_path / "a.txt").write_text("好\n亡\n好\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"killed 3 times at or near rows \d to \d of .*a.txt; .*--workers"):
        run(faults.job(tmp_path, tmp_path / "out"), LocalEngine(1))


def test_a_killed_job_leaves_no_workers_and_resumes(tmp_path, workers):
    workers.reset(0.05)
    batch = faults.start(tmp_path, tmp_path / "out", workers)
    wait_until(lambda: faults.shards_done(tmp_path / "out") >= 2, 240)
    batch.kill()
    batch.communicate(timeout=300)
    for pid in workers.pids():
        wait_until(lambda pid=pid: not Path(f"/proc/{pid}").exists(), 240)
    assert faults.goes_on_as_if_undisturbed(tmp_path, tmp_path / "out") >= 2


def test_one_interrupt_finishes_what_is_under_way(tmp_path, workers):
    workers.reset(0.05)
    batch = faults.start(tmp_path, tmp_path / "out", workers)
    wait_until(lambda: faults.shards_done(tmp_path / "out") >= 1, 240)
    batch.send_signal(signal.SIGINT)
    out, err = batch.communicate(timeout=300)
    assert batch.returncode == 130
    assert out == ""
    assert "finishing the running shards" in err
    assert "run the same command again to resume" in err
    assert "Traceback" not in err
    assert not list(tmp_path.rglob("*.aside"))
    assert faults.goes_on_as_if_undisturbed(tmp_path, tmp_path / "out") >= 1


def test_two_interrupts_stop_at_once(tmp_path, workers):
    workers.reset(30)
    batch = faults.start(tmp_path, tmp_path / "out", workers)
    workers.wait_for(1)
    batch.send_signal(signal.SIGINT)
    time.sleep(0.3)
    batch.send_signal(signal.SIGINT)
    _, err = batch.communicate(timeout=150)  # less than the 210 s of a shard
    assert batch.returncode == 130
    assert "Traceback" not in err
    faults.goes_on_as_if_undisturbed(tmp_path, tmp_path / "out")


def test_a_full_disk_is_reported_in_one_sentence_and_the_job_resumes(tmp_path, workers):
    workers.reset(0)
    with faults.small_disk(tmp_path / "disk") as disk:
        filler = disk / "filler"
        filler.write_bytes(b"x" * (256 - 40) * 1024)
        batch = faults.start(tmp_path, disk / "out", workers)
        out, err = batch.communicate(timeout=300)
        assert batch.returncode == 2
        assert out == ""
        assert err.count("\n") == 1
        assert err.endswith("is full; free some space and run the same command again to resume.\n")
        assert not list(disk.rglob("*.aside"))
        filler.unlink()
        faults.goes_on_as_if_undisturbed(tmp_path, disk / "out")
