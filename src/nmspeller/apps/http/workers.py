"""Several server processes that share the listening sockets; one that dies is started again."""

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess

from nmspeller.apps.http import logs

_SIGHUP: signal.Signals | None = getattr(signal, "SIGHUP", None)  # there is none on Windows
_SECONDS_BETWEEN_STARTS = 1.0
_LATENCY = 0.1


def block_sighup() -> None:
    """Keep a SIGHUP back, whose default action would end the process, until there is a handler for it."""
    if _SIGHUP is not None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {_SIGHUP})


def unblock_sighup() -> None:
    """Handle a SIGHUP that came meanwhile."""
    if _SIGHUP is not None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {_SIGHUP})


@contextmanager
def _sighup_blocked() -> Iterator[None]:
    block_sighup()
    try:
        yield
    finally:
        unblock_sighup()


class Supervisor:
    """Runs `work` in a number of processes, until SIGTERM or SIGINT; SIGHUP is passed on to them."""

    def __init__(self, work: Callable[[list[socket.socket]], None], listeners: list[socket.socket]) -> None:
        self._work = work
        self._listeners = listeners
        self._workers: list[SpawnProcess] = []
        self._should_stop = False

    def run(self, number: int, grace: float) -> None:
        """Keep the workers alive; once stopped, they have `grace` seconds to end."""
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, self._stop)
        if _SIGHUP is not None:
            signal.signal(_SIGHUP, lambda *_: self._signal_all(signal.Signals(_SIGHUP)))
        self._workers = [self._started() for _ in range(number)]
        last_start = time.monotonic()
        while not self._should_stop:
            wait([worker.sentinel for worker in self._workers], _LATENCY)
            dead = [worker for worker in self._workers if not worker.is_alive()]
            if dead and not self._should_stop and time.monotonic() > last_start + _SECONDS_BETWEEN_STARTS:
                logs.event("worker died", worker=dead[0].pid, code=dead[0].exitcode)
                self._workers[self._workers.index(dead[0])] = self._started()
                last_start = time.monotonic()
        # As long as any process has them open, the system makes connections that nobody would accept.
        for listener in self._listeners:
            listener.close()
        self._signal_all(signal.SIGTERM)
        end = time.monotonic() + grace
        for worker in self._workers:
            worker.join(max(0.0, end - time.monotonic()))
            worker.kill()
            worker.join()

    def _started(self) -> SpawnProcess:
        worker = multiprocessing.get_context("spawn").Process(target=self._work, args=(self._listeners,))
        with _sighup_blocked():  # which the worker inherits
            worker.start()
        return worker

    def _stop(self, *_: object) -> None:
        self._should_stop = True

    def _signal_all(self, number: signal.Signals) -> None:
        for worker in self._workers:
            with suppress(ProcessLookupError):
                if worker.pid is not None and worker.is_alive():
                    os.kill(worker.pid, number)
