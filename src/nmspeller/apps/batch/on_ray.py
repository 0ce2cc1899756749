"""The Ray engine: Ray Data distributes shards to a pool of actors, each of which loads its speller once.

Only the descriptions and entries of shards pass through Ray; workers read the input and write to OUTPUT
themselves, which must have the same address on every node.
"""

import json
import logging
import os
import socket
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")

import ray
import ray.data
from ray.exceptions import RayError

from nmspeller.apps.batch.local import worker_death_message
from nmspeller.apps.batch.plan import Shard
from nmspeller.apps.batch.stopping import Stop, StopNow
from nmspeller.apps.batch.store import Store
from nmspeller.apps.batch.worker import ShardWorker, WorkOrder, disk_error_message
from nmspeller.errors import InputError
from nmspeller.messages import _, speaking
from nmspeller.runtime.engine import cores

# Only descriptions and entries pass through the object store of a cluster that is started for a job.
_OBJECT_STORE_BYTES = 200 << 20
# One shard per block, so that each is retried separately, up to the number of blocks that Ray handles well.
_MAX_BLOCKS = 10_000
# Ray retries a shard whose worker or node died without end, and some texts may kill every worker.
_MAX_TRIES = 3
_CONNECT_SECONDS = 10


class RayEngine:
    """Actors on a Ray cluster: the one at `address`, or one on this machine for the duration of the job."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self._workers = workers
        self._address = address

    def correct(
        self, order: WorkOrder, shards: Sequence[Shard], stop: Stop
    ) -> Generator[dict[str, Any] | None, None, None]:
        """The entries of the shards as they are finished."""
        connected_before = ray.is_initialized()
        if not connected_before:
            self._connect()
        try:
            yield from self._correct(order, shards, stop)
        except RayError as error:
            raise InputError(
                _(
                    "the Ray cluster failed ({problem}); look at its nodes and run the same command again to "
                    "resume."
                ).format(problem=_first_line(error))
            ) from error
        finally:
            if not connected_before:
                with _silence():
                    ray.shutdown()

    def _correct(
        self, order: WorkOrder, shards: Sequence[Shard], stop: Stop
    ) -> Generator[dict[str, Any], None, None]:
        cpus = int(ray.cluster_resources().get("CPU", 1))  # type: ignore[no-untyped-call]
        workers = min(self._workers or max(1, cpus), len(shards))
        store = Store(order.job.output)
        store.ask_workers_to_stop(False)
        store.forget_tries()

        def pass_on(times: int) -> None:
            if times > 1:
                raise StopNow
            store.ask_workers_to_stop(True)

        stop.hooks.append(pass_on)
        if stop.asked:
            pass_on(stop.asked)
        idle: set[str] = set()
        for row in _dataset(order, shards, workers).iter_rows():
            result = json.loads(row["result"])
            if "error" in result:
                raise InputError(result["error"])
            if "idle" in result:
                idle.add(result["idle"])
                if len(idle) == workers:
                    return
            else:
                yield result

    def _connect(self) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        try:
            if self._address is not None and ":" in self._address:
                _check_reachable(self._address)
            with _silence():
                if self._address is not None:
                    ray.init(self._address, **quiet)
                else:
                    ray.init(
                        "local",
                        num_cpus=self._workers or cores(),
                        include_dashboard=False,
                        object_store_memory=_OBJECT_STORE_BYTES,
                        _node_ip_address="127.0.0.1",
                        **quiet,
                    )
        except (OSError, RuntimeError, ValueError) as error:
            where = self._address or _("a cluster on this machine")
            raise InputError(
                _("Ray cannot reach or start {where}: {problem}.").format(
                    where=where, problem=_first_line(error)
                )
            ) from error


class _ShardActor:
    """One worker of the pool; error messages are returned as results, since Ray would wrap exceptions."""

    def __init__(self, order: WorkOrder) -> None:
        self._order = order
        self._store = Store(order.job.output)
        self._name = f"{ray.get_runtime_context().get_node_id()} {os.getpid()}"
        self._worker: ShardWorker | None = None
        self._error = ""
        try:
            with speaking(order.language):
                self._worker = ShardWorker(order)
        except InputError as error:
            self._error = str(error)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        with speaking(self._order.language):
            return {
                "result": [json.dumps(self._correct(Shard(**json.loads(shard)))) for shard in batch["shard"]]
            }

    def _correct(self, shard: Shard) -> dict[str, Any]:
        if self._worker is None:
            return {"error": self._error}
        try:
            if self._store.workers_should_stop():
                return {"idle": self._name}
            done = self._worker.finished(shard)
            if done is None and self._store.count_try(shard.number) > _MAX_TRIES:
                return {"error": worker_death_message(self._order, shard, _MAX_TRIES)}
            return done or self._worker.correct(shard)
        except InputError as error:
            return {"error": str(error)}
        except OSError as error:
            return {"error": disk_error_message(error, self._order.job.output)}


def _dataset(order: WorkOrder, shards: Sequence[Shard], workers: int) -> Any:
    """A lazy dataset of the shards' entries."""
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    items = [{"shard": json.dumps(asdict(shard))} for shard in shards]
    return ray.data.from_items(items, override_num_blocks=min(len(items), _MAX_BLOCKS)).map_batches(
        _ShardActor,
        fn_constructor_args=(order,),
        batch_size=1,
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=2),
    )


def _check_reachable(address: str) -> None:
    """Check quickly whether the address answers; Ray itself would wait for minutes."""
    host, _colon, port = address.rpartition("//")[2].rpartition(":")
    socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()


@contextmanager
def _silence() -> Iterator[None]:
    """Hide what Ray prints when it starts and stops."""
    stderr = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")
