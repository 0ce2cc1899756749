"""Stop when a person asks to: once to finish what is under way, twice to stop at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class StopNow(BaseException):
    """Raised where a job is asked a second time, by an engine that cannot look up while it waits."""


class Stop:
    """How often the job was asked to stop, and who wants to know."""

    def __init__(self) -> None:
        self.asked = 0
        self.hooks: list[Callable[[int], None]] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Count SIGINT and SIGTERM inside the block; only the main thread has signals to count."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def heard(number: int, frame: FrameType | None) -> None:
            self.asked += 1
            for hook in self.hooks:
                hook(self.asked)

        before = {number: signal.signal(number, heard) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
