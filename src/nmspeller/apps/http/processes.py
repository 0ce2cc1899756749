"""Work on a stranger's document, in a process that is killed when its request is over before it is done.

A thread cannot be stopped, and one that reads a hostile document would slow down all others.
"""

import asyncio
import json
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any
from weakref import WeakValueDictionary

from nmspeller.apps.http import errors, logs
from nmspeller.apps.http.errors import ApiError
from nmspeller.messages import language

AT_A_TIME = 2
"""How many processes work, each for another client; the others' requests wait."""
_MOST_WAITING = 32
_MOST_OF_A_CLIENT = _MOST_WAITING // 2
_LENGTH = struct.Struct(">I")
DONE, REFUSED, FAILED = b"+", b"-", b"!"
"""How an answer begins: with what was asked for, the status and sentence of an error, the place of a bug."""


class DocumentProcesses:
    """A few processes that run a module's `main`; one that is idle takes the next document."""

    def __init__(self, module: str) -> None:
        # With this process's path, so that no module of the present folder is taken for another.
        program = f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; main()"
        self._command = [sys.executable, "-c", program]
        self._places = asyncio.Semaphore(AT_A_TIME)
        self._threads = ThreadPoolExecutor(AT_A_TIME, "document")
        self._idle: list[subprocess.Popen[bytes]] = []
        self._waiting: Counter[str] = Counter()  # documents of each client, those at work too
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self, client: str, document: bytes, **asked: Any) -> bytes:
        """What the process answers, or the error that it raises; where this is cancelled, it is killed."""
        if self._waiting.total() >= _MOST_WAITING or self._waiting[client] >= _MOST_OF_A_CLIENT:
            raise errors.queue_full(5)
        self._waiting[client] += 1
        turn = self._turns.setdefault(client, asyncio.Lock())
        try:
            async with turn, self._places:
                header = json.dumps({**asked, "language": language()}).encode()
                answer = await self._ask(header, document)
        finally:
            self._waiting -= Counter([client])
        kind, content = answer[:1], answer[1:]
        if kind == REFUSED:
            raise ApiError(*json.loads(content))
        if kind == FAILED:
            logs.event("document failed", failure=content.decode())
            raise errors.server_failed()
        if kind != DONE:
            raise errors.document_failed()
        return content

    def close(self) -> None:
        """End the idle processes."""
        for process in self._idle:
            _end(process)
        self._idle.clear()
        self._threads.shutdown(wait=False)

    async def _ask(self, *frames: bytes) -> bytes:
        process = self._idle.pop() if self._idle else self._start()
        answer = b""
        try:
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._threads, _exchange, process, frames)
        finally:
            if answer:
                self._idle.append(process)
            else:
                _end(process)
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _exchange(process: "subprocess.Popen[bytes]", frames: Sequence[bytes]) -> bytes:
    """Send and wait; empty where the process has ended without an answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for frame in frames:
            write_frame(process.stdin, frame)
        return read_frame(process.stdout)
    except (EOFError, OSError):
        return b""


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            if stream is not None:
                stream.close()


def write_frame(stream: IO[bytes], content: bytes) -> None:
    """Send some bytes with their length."""
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes:
    """Receive what `write_frame` has sent.

    Raises:
        EOFError: the other end has closed the stream.
    """
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        raise EOFError
    content = stream.read(length := _LENGTH.unpack(header)[0])
    if len(content) < length:
        raise EOFError
    return content
