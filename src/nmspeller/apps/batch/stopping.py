"""Signals to stop a job: the first one finishes running shards, the second stops at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class StopNow(BaseException):
    """Raised to stop the job at once, whatever it is doing."""


class Stop:
    """How often the job was asked to stop, and hooks that are called each time.

    The hooks are called only inside `patiently`; elsewhere the job ends at once with StopNow.
    """

    def __init__(self) -> None:
        self.asked = 0
        self.hooks: list[Callable[[int], None]] = []
        self._patient = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Count SIGINT and SIGTERM inside the block; only the main thread has signals to count."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def on_signal(number: int, frame: FrameType | None) -> None:
            self.asked += 1
            if not self._patient:
                raise StopNow
            for hook in self.hooks:
                hook(self.asked)

        before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """Inside the block, call the hooks instead of raising StopNow."""
        self._patient = True
        try:
            yield
        finally:
            self._patient = False
