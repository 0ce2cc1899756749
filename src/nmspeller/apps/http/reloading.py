"""SIGHUP, which asks a server to read its words and its model again."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

_BY_SIGNAL = hasattr(signal, "SIGHUP")  # there is none on Windows
_kept = Event()


@contextmanager
def kept_until_ready() -> Iterator[None]:
    """Keep a SIGHUP that comes while the server starts until it can be obeyed: it would end the process."""
    if not _BY_SIGNAL:
        yield
        return
    before = signal.signal(signal.SIGHUP, lambda *_: _kept.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def obey_what_was_kept() -> None:
    """Now that SIGHUP has a handler of the server's, send it the one that was kept, if any."""
    if _kept.is_set():
        _kept.clear()
        signal.raise_signal(signal.SIGHUP)
