"""Stop when a person asks to: once to finish what is under way, twice to stop at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """How often the job was asked to stop."""

    def __init__(self) -> None:
        self.asked = 0

    @contextmanager
    def listening(self, on_ask: Callable[[int], None]) -> Iterator[None]:
        """Count SIGINT and SIGTERM inside the block; only the main thread has signals to count."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def heard(number: int, frame: FrameType | None) -> None:
            self.asked += 1
            on_ask(self.asked)

        before = {number: signal.signal(number, heard) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
