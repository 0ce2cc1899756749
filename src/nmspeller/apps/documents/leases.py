"""Noticing that another program still writes to a file: Linux gives a lease if none has it open to write."""

import errno
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 2.0
"""Seconds in which a program that saves a file is done."""
_INTERVAL = 0.01


class StillOpen(Exception):
    """Another program has the file open for writing, and does not close it."""


@contextmanager
def without_writers(path: Path) -> Iterator[Callable[[], bool]]:
    """Wait until no program has the file open for writing; yields what tells whether none wants to again.

    One that does waits for the end of the block. Where leases are unknown (not on Linux, on some network
    file systems, for files of another user) this does nothing, and what it yields says that none wants to.

    Raises:
        StillOpen: a program did not close it in time.
    """
    if sys.platform != "linux":
        yield lambda: True
        return
    import fcntl

    descriptor = os.open(path, os.O_RDONLY)
    try:
        # Who wants to open the file is announced by a signal, of which the default would end this process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        if _leased(descriptor):
            yield lambda: fcntl.fcntl(descriptor, fcntl.F_GETLEASE) == fcntl.F_RDLCK
        else:
            yield lambda: True
    finally:
        os.close(descriptor)


def _leased(descriptor: int) -> bool:
    """Whether there is a lease now, or there are none for this file."""
    import fcntl

    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError as error:
            if error.errno != errno.EAGAIN:
                return False
            if time.monotonic() > end:
                raise StillOpen from None
            time.sleep(_INTERVAL)
        else:
            return True
