"""What the fault tests share: a small job, run as a process that can be hurt, and then run again in peace."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.waiting import wait_until

from nmspeller.apps.batch import BatchJob, SpellerSettings, run
from nmspeller.apps.batch.worker import ShardWorker

STAND_IN = SpellerSettings(factory="stand_in_speller:StandIn")
LINES = "".join(f"第{number}行我己经来了。在见！\n" for number in range(60))
FIXED = LINES.replace("己", "已").replace("在", "再")
SHARD = 300


class Workers:
    """The folder through which the stand-in spellers of a job are slowed down and found."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def reset(self, seconds: float) -> None:
        """Let each text take this long, and forget the processes seen so far."""
        self._folder.mkdir(exist_ok=True)
        for path in self._folder.iterdir():
            path.unlink()
        self.let_a_text_take(seconds)

    def let_a_text_take(self, seconds: float) -> None:
        """From a worker's next batch on."""
        (self._folder / "seconds").write_text(str(seconds))

    def pids(self) -> list[int]:
        """The processes that have checked texts."""
        return [int(path.name) for path in self._folder.iterdir() if path.name != "seconds"]

    def wait_for(self, count: int) -> list[int]:
        """Wait until so many processes have checked texts."""
        wait_until(lambda: len(self.pids()) >= count, 240)
        return self.pids()

    def environment(self) -> dict[str, str]:
        """The environment of a process whose stand-ins use the folder."""
        return {**os.environ, "STAND_IN_FOLDER": str(self._folder)}


def job(folder: Path, output: Path) -> BatchJob:
    source = folder / "a.txt"
    if not source.exists():
        source.write_text(LINES, encoding="utf-8")
    return BatchJob((str(source),), str(output), speller=STAND_IN, shard_bytes=SHARD)


def shards_done(output: Path) -> int:
    done = output / ".nmspeller-batch" / "done"
    return len(list(done.glob("*.json"))) if done.exists() else 0


def start(folder: Path, output: Path, workers: Workers, *options: str) -> subprocess.Popen[str]:
    """`nmspeller batch` as a process of its own."""
    the_job = job(folder, output)
    command = [sys.executable, "-m", "nmspeller", "batch", *the_job.inputs, the_job.output, "-o", "json"]
    command += ["--speller", STAND_IN.factory, "--shard-size", str(SHARD), "--workers", "2", *options]
    return subprocess.Popen(
        command, env=workers.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


class _HereEngine:
    def correct(self, order, shards, stop):
        worker = ShardWorker(order)
        for shard in shards:
            yield worker.correct(shard)


def goes_on_as_if_undisturbed(folder: Path, output: Path) -> int:
    """Run the job to its end in this process; returns how many shards had been done before."""
    assert not (output / "a.txt").exists()
    summary = run(job(folder, output), _HereEngine())
    is_undisturbed(output)
    return summary["shards_done_before"]


def is_undisturbed(output: Path) -> None:
    """Hold the output to what an undisturbed run writes: every row once, and nothing left behind."""
    assert (output / "a.txt").read_text(encoding="utf-8") == FIXED
    assert sorted(path.name for path in output.iterdir()) == ["a.txt", "nmspeller-batch.json"]


@contextmanager
def small_disk(path: Path) -> Iterator[Path]:
    """A disk of 256 KiB."""
    path.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(path)]
    if not mount or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=False)
