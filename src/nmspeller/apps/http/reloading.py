"""SIGHUP, on which a server reloads its words and its model."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

_BY_SIGNAL = hasattr(signal, "SIGHUP")  # there is none on Windows
_received = Event()


@contextmanager
def sighup_deferred() -> Iterator[None]:
    """Defer a SIGHUP during the start, when its default action would end the process."""
    if not _BY_SIGNAL:
        yield
        return
    before = signal.signal(signal.SIGHUP, lambda *_: _received.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def handle_early_sighup() -> None:
    """Raise the deferred SIGHUP, if any, now that the server has a handler for it."""
    if _received.is_set():
        _received.clear()
        signal.raise_signal(signal.SIGHUP)
