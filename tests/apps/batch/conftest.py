"""What the batch tests share: a stand-in speller that all processes find, and an engine without any."""

import os
import sys
from pathlib import Path

import pytest

from nmspeller.apps.batch import BatchJob, SpellerSettings, run
from nmspeller.apps.batch.worker import ShardWorker

HERE = str(Path(__file__).parent)
STAND_IN = SpellerSettings(factory="stand_in_speller:StandIn")


# Worker processes are given this process's path, or its environment where they are started by others.
sys.path.insert(0, HERE)


@pytest.fixture(scope="session", autouse=True)
def _stand_in_is_found_by_processes():
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [HERE, before]))
    yield
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


class HereEngine:
    """Corrects shards in this process, in an order of the test's choice."""

    def __init__(self, reverse: bool = False, stop_after: int | None = None) -> None:
        self._reverse = reverse
        self._stop_after = stop_after
        self.corrected: list[int] = []

    def correct(self, order, shards, stop):
        worker = ShardWorker(order)
        for shard in reversed(shards) if self._reverse else shards:
            if self._stop_after is not None and len(self.corrected) == self._stop_after:
                return
            self.corrected.append(shard.number)
            yield worker.correct(shard)


@pytest.fixture
def here_engine():
    return HereEngine


@pytest.fixture
def correct(tmp_path):
    """Run a job over files given by name, and return the output folder's files by name, and the summary."""

    def correct(files, *, engine=None, output="out", cache=1000, max_bad_share=1.0, verify=False, **options):
        folder = tmp_path / "in"
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            # Writing a file again would make it look changed.
            if not path.exists() or path.read_bytes() != content:
                path.write_bytes(content)
        inputs = tuple(str(folder / name) for name in files)
        job = BatchJob(inputs, str(tmp_path / output), **{"speller": STAND_IN, **options})
        summary = run(job, engine or HereEngine(), cache=cache, max_bad_share=max_bad_share, verify=verify)
        return outputs(tmp_path / output), summary

    return correct


def outputs(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, the manifest aside, which holds times."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "nmspeller-batch.json"
    }
