"""The server on standard input and output."""

import contextlib
import logging
import os
import signal
import sys
from io import BufferedReader, FileIO
from typing import BinaryIO

from nmspeller.apps.lsp.features import connect
from nmspeller.apps.lsp.server import SpellingServer
from nmspeller.apps.lsp.speller_thread import OpenChecker
from nmspeller.text.patterns import lazy_pattern

_SECONDS_TO_FINISH = 1.0  # long enough to write a word list, and short enough for an editor that waits

_CONTENT_LENGTH = lazy_pattern(rb"Content-Length: *0*(\d+)")
_MOST_DIGITS = 9  # less than 1 GB
_LONGEST_LINE = 1 << 16


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
    server.start_io(_Input(FileIO(sys.stdin.fileno(), closefd=False)), messages)
    code = 0 if server.shut_down else 1
    if not server.speller_thread.finish(_SECONDS_TO_FINISH):
        # A thread cannot be stopped, and the interpreter would wait for it: many seconds for a slow batch.
        _exit_at_once(code, messages)
    return code


class _Input(BufferedReader):
    """Standard input without headers that announce a message too large to be one.

    pygls would allocate the memory for it. What follows such a header is skipped like anything else that is
    not a message.
    """

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(_LONGEST_LINE)
        found = _CONTENT_LENGTH.match(line)
        if found is None or len(found[1]) <= _MOST_DIGITS:
            return line
        refused = f"a message of {found[1][:20].decode()} bytes is refused."
        print(f"nmspeller: {refused}", file=sys.stderr, flush=True)
        return b"\r\n"


def _exit_at_once(code: int, messages: BinaryIO) -> None:
    """End the process without its exit handlers, but with everything written."""
    for stream in (messages, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the editor, or pygls, closed it
            stream.flush()
    os._exit(code)
