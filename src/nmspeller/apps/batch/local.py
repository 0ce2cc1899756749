"""The local engine: one process per core, or a few that share a GPU."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from nmspeller.apps.batch.plan import Shard
from nmspeller.apps.batch.stopping import Stop
from nmspeller.apps.batch.worker import ShardWorker, WorkOrder
from nmspeller.errors import InputError
from nmspeller.messages import _, speak
from nmspeller.runtime.engine import cores

_TICK_SECONDS = 0.2
_MAX_DEATHS = 3
# Each prepares texts while others read on the GPU; more only wait, and take its memory.
_WORKERS_A_GPU = 8

_worker: ShardWorker | None = None


class LocalEngine:
    """Processes on this machine, each with a speller of its own; one that is killed is replaced."""

    def __init__(self, workers: int | None = None, device: str = "cpu") -> None:
        self.workers = workers or (cores() if device == "cpu" else min(cores(), _WORKERS_A_GPU))

    def correct(
        self, order: WorkOrder, shards: Sequence[Shard], stop: Stop
    ) -> Generator[dict[str, Any] | None, None, None]:
        """The entries of the shards as they are finished, and None now and then for the caller to look up.

        Each worker has two shards, one running and one waiting, so memory is bounded.
        """
        waiting = deque(shards)
        running: dict[Future[dict[str, Any]], Shard] = {}
        deaths = 0
        others = set(multiprocessing.active_children())
        pool = self._pool(order)
        try:
            while (waiting and not stop.asked) or running:
                if stop.asked > 1:
                    break
                while waiting and len(running) < 2 * self.workers and not stop.asked:
                    shard = waiting.popleft()
                    running[_submit(pool, shard)] = shard
                finished, _unfinished = wait(running, _TICK_SECONDS, FIRST_COMPLETED)
                lost: list[Shard] = []
                for future in finished:
                    shard = running.pop(future)
                    try:
                        entry = future.result()
                    except BrokenProcessPool:
                        lost.append(shard)
                        continue
                    deaths = 0
                    yield entry
                if lost:
                    deaths += 1
                    # A broken pool loses all its tasks.
                    lost = sorted([*lost, *running.values()], key=lambda shard: shard.number)
                    running.clear()
                    waiting.extendleft(reversed(lost))
                    pool.shutdown(cancel_futures=True)
                    if deaths == _MAX_DEATHS:
                        raise InputError(worker_death_message(order, lost[0], deaths))
                    pool = self._pool(order)
                yield None
        finally:
            if stop.asked > 1:
                for process in set(multiprocessing.active_children()) - others:
                    process.kill()
            pool.shutdown(cancel_futures=True)

    def _pool(self, order: WorkOrder) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.workers, multiprocessing.get_context("spawn"), initializer=_start, initargs=(order,)
        )


def _submit(pool: ProcessPoolExecutor, shard: Shard) -> "Future[dict[str, Any]]":
    """Submit a shard; processes that this starts must not receive the terminal's Ctrl-C."""
    if not hasattr(signal, "pthread_sigmask"):
        return pool.submit(_correct, shard)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(_correct, shard)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(order: WorkOrder) -> None:
    """Make this process a worker, which ignores Ctrl-C and exits with its parent."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()
    speak(order.language)
    _worker = ShardWorker(order)


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _correct(shard: Shard) -> dict[str, Any]:
    if _worker is None:
        raise RuntimeError("the worker was not started")
    return _worker.correct(shard)


def worker_death_message(order: WorkOrder, shard: Shard, deaths: int) -> str:
    """The error message after repeated deaths of workers."""
    file = order.sources[shard.source].source.shown
    return _(
        "workers were killed {deaths} times at or near rows {first} to {last} of {file}; "
        "if memory is short, run again with fewer --workers."
    ).format(deaths=deaths, first=shard.first_row, last=shard.first_row + shard.rows - 1, file=file)
