"""The server on standard input and output."""

import logging
import os
import signal
import sys

from nmspeller.apps.lsp.features import connect
from nmspeller.apps.lsp.server import MakeSpeller, SpellingServer


def serve(make_speller: MakeSpeller, *, prefilter: bool = False) -> int:
    """Serve one editor until it sends `exit` or disconnects; the exit code is 0 if it sent `shutdown` first.

    `prefilter` is used unless the editor's settings say otherwise.
    """
    # The thread that waits for input would delay an interrupt until the next message.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # From here on, a `print` in any library goes to standard error and not between two messages.
    messages = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    logging.getLogger("pygls").setLevel(logging.ERROR)
    server = connect(SpellingServer(make_speller, prefilter=prefilter))
    server.start_io(sys.stdin.buffer, messages)
    return 0 if server.shut_down else 1
