"""The server on standard input and output."""

import contextlib
import logging
import os
import signal
import sys
from typing import BinaryIO

from nmspeller.apps.lsp.features import connect
from nmspeller.apps.lsp.server import OpenChecker, SpellingServer

_SECONDS_TO_FINISH = 1.0  # long enough to write a word list, and short enough for an editor that waits


def serve(open_checker: OpenChecker, *, prefilter: bool = False) -> int:
    """Serve one editor until it sends `exit` or disconnects; the exit code is 0 if it sent `shutdown` first.

    `prefilter` is used unless the editor's settings say otherwise.
    """
    # The thread that waits for input would delay an interrupt until the next message.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # From here on, a `print` in any library goes to standard error and not between two messages.
    messages = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    logging.getLogger("pygls").setLevel(logging.ERROR)
    server = connect(SpellingServer(open_checker, prefilter=prefilter))
    server.start_io(sys.stdin.buffer, messages)
    code = 0 if server.shut_down else 1
    if not server.finish(_SECONDS_TO_FINISH):
        # A thread cannot be stopped, and the interpreter would wait for it: many seconds for a slow batch.
        _exit_at_once(code, messages)
    return code


def _exit_at_once(code: int, messages: BinaryIO) -> None:
    """End the process without its exit handlers, but with everything written."""
    for stream in (messages, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the editor, or pygls, closed it
            stream.flush()
    os._exit(code)
