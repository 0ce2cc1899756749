"""The same on a Ray cluster of two nodes: workers and a node killed, a full disk, interrupts."""

import os
import signal
import threading
import time

import batch_faults as faults
import pytest

from nmspeller.apps.batch import run
from nmspeller.errors import InputError

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow

# A loopback address that Ray does not replace by the machine's own, as it does 127.0.0.1.
_NODE = {"num_cpus": 1, "object_store_memory": 100 << 20, "node_ip_address": "127.0.0.2"}
# How often Ray asks whether a node lives: after five refusals it is dead. It waits for a busy one as before.
_HEAD = {**_NODE, "include_dashboard": False, "_system_config": {"health_check_period_ms": 500}}


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    found = faults.Workers(tmp_path_factory.mktemp("workers"))
    found.reset(0)
    return found


@pytest.fixture(scope="module")
def cluster(workers):
    """A head and a second node, one worker each; nothing of it can be reached from outside this machine."""
    from ray.cluster_utils import Cluster

    before = dict(os.environ)
    # The nodes hand their environment on to the workers.
    os.environ.update(workers.environment(), RAY_USAGE_STATS_ENABLED="0", RAY_BACKEND_LOG_LEVEL="fatal")
    cluster = Cluster(initialize_head=True, head_node_args=_HEAD)
    cluster.add_node(**_NODE)
    ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
    yield cluster
    ray.shutdown()
    cluster.shutdown()
    os.environ.clear()
    os.environ.update(before)


class Running(threading.Thread):
    """A job that runs while the test disturbs it."""

    def __init__(self, folder, output) -> None:
        super().__init__(daemon=True)
        self._job = faults.job(folder, output)
        self.summary = None
        self.wrong = None
        self.start()

    def run(self) -> None:
        from nmspeller.apps.batch.on_ray import RayEngine

        try:
            self.summary = run(self._job, RayEngine(2))
        except Exception as wrong:
            self.wrong = wrong

    def finish(self):
        self.join(300)
        assert not self.is_alive(), "the job hangs"
        if self.wrong is not None:
            raise self.wrong
        return self.summary


def test_ray_writes_the_same_bytes(cluster, workers, tmp_path):
    workers.reset(0)
    summary = Running(tmp_path, tmp_path / "out").finish()
    faults.is_undisturbed(tmp_path / "out")
    assert summary["rows"] == 60


def test_a_killed_worker_loses_nothing(cluster, workers, tmp_path):
    workers.reset(0.05)
    running = Running(tmp_path, tmp_path / "out")
    os.kill(workers.wait_for(1)[0], signal.SIGKILL)
    assert running.is_alive()
    running.finish()
    faults.is_undisturbed(tmp_path / "out")
    assert len(workers.pids()) >= 2


def test_a_text_that_kills_every_worker_is_named(cluster, workers, tmp_path):
    workers.reset(0)
    (tmp_path / "a.txt").write_text("好\n亡\n好\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"killed \d times at or near rows 1 to 3 of .*a.txt"):
        Running(tmp_path, tmp_path / "out").finish()


def test_a_killed_node_loses_nothing(cluster, workers, tmp_path):
    workers.reset(1)  # so long that the first worker cannot do it all before a busy machine starts the second
    running = Running(tmp_path, tmp_path / "out")
    workers.wait_for(2)
    workers.let_a_text_take(0.05)
    cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
    assert running.is_alive()
    try:
        running.finish()
    finally:
        cluster.add_node(**_NODE)
    faults.is_undisturbed(tmp_path / "out")


def test_a_full_disk_is_reported_and_the_job_resumes(cluster, workers, tmp_path):
    workers.reset(0)
    with faults.small_disk(tmp_path / "disk") as disk:
        filler = disk / "filler"
        filler.write_bytes(b"x" * (256 - 40) * 1024)
        with pytest.raises(InputError, match="is full; free some space and run the same command again"):
            Running(tmp_path, disk / "out").finish()
        assert not (disk / "out" / "a.txt").exists()
        filler.unlink()
        Running(tmp_path, disk / "out").finish()
        faults.is_undisturbed(disk / "out")


@pytest.mark.parametrize("times", [1, 2])
def test_interrupts(cluster, workers, tmp_path, times):
    workers.reset(0.4 if times == 1 else 30)  # a shard has seven texts, and a worker four shards
    output = tmp_path / "out"
    batch = faults.start(tmp_path, output, workers, "--engine", "ray", "--address", cluster.address)
    workers.wait_for(1)
    for _ in range(times):
        batch.send_signal(signal.SIGINT)
        time.sleep(0.5)
    _, err = batch.communicate(timeout=300 if times == 1 else 150)  # less than the 210 s of a shard
    assert batch.returncode == 130, err
    assert "run the same command again to resume" in err
    assert "Traceback" not in err
    workers.reset(0)
    done = faults.goes_on_as_if_undisturbed(tmp_path, output)
    assert done >= 1 if times == 1 else done == 0
