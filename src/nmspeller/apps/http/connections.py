"""The connections of a process; one whose client keeps it waiting for too long is closed.

Uvicorn limits neither how long a client takes to send a request nor how long it takes to read an answer, and
no other server that was measured does both (docs/serving.md). Its listening socket is ours, though: it can
note each connection that it accepts. Closing one from outside is seen by uvicorn as the client's own doing.
"""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from starlette.types import Scope

MOST_CONNECTIONS = 512
"""How many connections, and how many requests, a process has at a time."""
LONGEST_HEAD_SECONDS = 10.0
_LEAST_SECONDS = 1.0  # which a client has in any case
_FIRST_REQUEST_SECONDS = 2.0
_SWEEP_SECONDS = 0.25


class Connection:
    """A connection, whether a request has come, and since when its client has kept it waiting."""

    def __init__(self, accepted: socket.socket | None, seconds: float) -> None:
        self._socket = accepted
        self.has_asked = False
        self.wait_for_client(seconds)

    def wait_for_client(self, seconds: float) -> None:
        """It is the client's turn to send or to read; it may take that long."""
        self.waits_since: float | None = time.monotonic()
        self.limit = seconds

    @contextmanager
    def waiting_for_client(self, seconds: float) -> Iterator[None]:
        """So it is inside the block; after it, the server has something to do."""
        self.wait_for_client(seconds)
        try:
            yield
        finally:
            self.waits_since = None

    @property
    def is_open(self) -> bool:
        return self._socket is not None and self._socket.fileno() >= 0

    def has_unread(self) -> bool:
        """Whether something of its client was not read yet: then it is not the client that is slow."""
        with suppress(OSError):
            return self._socket is not None and self._socket.recv(1, socket.MSG_PEEK) != b""
        return False

    def awaits_its_turn(self) -> bool:
        """Whether its first request is there, but the event loop was too busy to read it."""
        return not self.has_asked and self.has_unread()

    def close(self) -> None:
        """Neither read nor write any more, whatever is still to be sent."""
        with suppress(OSError):
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)


NO_CONNECTION = Connection(None, 0.0)
"""Of a request that came in another way than through a `Listener`."""


class Connections:
    """All connections of a process, by the address of the client."""

    def __init__(self, time_limit: float) -> None:
        self._head_seconds = min(LONGEST_HEAD_SECONDS, time_limit)
        self._open: dict[tuple[str, int], Connection] = {}

    def note(self, accepted: socket.socket, address: tuple[Any, ...]) -> None:
        """A connection has been made."""
        self._open[address[:2]] = Connection(accepted, self._head_seconds)

    def of(self, scope: Scope) -> Connection | None:
        """That of a request, before `X-Forwarded-For` is considered; None where it was not accepted here."""
        return self._open.get(tuple(scope.get("client") or ())[:2])

    def expects_a_request(self) -> bool:
        """Whether a client has just connected, so that its first request must be on the way."""
        new = [one.waits_since for one in self._open.values() if one.is_open and not one.has_asked]
        return any(since is not None and time.monotonic() < since + _FIRST_REQUEST_SECONDS for since in new)

    async def sweep_for_ever(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            self.sweep(time.monotonic())

    def sweep(self, now: float) -> None:
        """Close those that are too late; of too many, those that have kept us waiting longest."""
        self._open = {address: one for address, one in self._open.items() if one.is_open}
        waiting = {one: now - one.waits_since for one in self._open.values() if one.waits_since is not None}
        late = {one for one, seconds in waiting.items() if seconds > one.limit and not one.awaits_its_turn()}
        excess = len(self._open) - len(late) - MOST_CONNECTIONS
        for one in sorted(waiting.keys() - late, key=waiting.__getitem__, reverse=True):
            if excess <= 0 or waiting[one] <= _LEAST_SECONDS:
                break
            if not one.has_unread():
                late.add(one)
                excess -= 1
        for one in late:
            one.close()


class Listener(socket.socket):
    """A listening socket that notes the connections that it accepts."""

    def __init__(self, listening: socket.socket, connections: Connections) -> None:
        super().__init__(listening.family, listening.type, listening.proto, fileno=listening.detach())
        self._connections = connections

    def accept(self) -> tuple[socket.socket, Any]:
        accepted, address = super().accept()
        self._connections.note(accepted, address)
        return accepted, address
