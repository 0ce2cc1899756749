"""Stop when a person asks to: once to finish what is under way, twice to stop at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class StopNow(BaseException):
    """Raised in the middle of whatever the job is doing: nothing under way is worth waiting for."""


class Stop:
    """How often the job was asked to stop, and who wants to know.

    Only work that is finished `patiently` is told; anything else ends at once with StopNow.
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

        def heard(number: int, frame: FrameType | None) -> None:
            self.asked += 1
            if not self._patient:
                raise StopNow
            for hook in self.hooks:
                hook(self.asked)

        before = {number: signal.signal(number, heard) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """Leave it to the block what it finishes when the job is asked to stop."""
        self._patient = True
        try:
            yield
        finally:
            self._patient = False
