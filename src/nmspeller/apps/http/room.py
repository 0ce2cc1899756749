"""Room for new connections: where a process has too many, those that have been silent longest are closed."""

import asyncio
from collections.abc import Sized
from typing import Protocol

MOST_CONNECTIONS = 512
"""How many connections, and how many requests, a process has at a time."""
_SILENT_SECONDS = 1.0


class Connection(Protocol):
    """A connection, which is silent while it has no request in hand."""

    def close_if_silent(self) -> bool:
        """Close it, unless a request has come meanwhile; whether it closes."""


class Room:
    """The silent connections of a process, in the order in which they fell silent.

    Nothing here looks at all connections: with a thousand of them, that would take longer than to answer a
    request.
    """

    def __init__(self) -> None:
        self._silent: dict[Connection, float] = {}
        self._leaving: set[Connection] = set()
        self._is_waiting = False

    def note_silent(self, connection: Connection, now: float) -> None:
        """A connection has been made, or its answer has been sent."""
        self._silent.pop(connection, None)
        self._silent[connection] = now

    def note_busy(self, connection: Connection) -> None:
        """A request has come."""
        self._silent.pop(connection, None)

    def note_lost(self, connection: Connection) -> None:
        """A connection is closed."""
        self._silent.pop(connection, None)
        self._leaving.discard(connection)

    def make(self, connections: Sized, loop: asyncio.AbstractEventLoop) -> None:
        """Close silent connections until few enough of all are left, now or as soon as they are silent."""
        if self._is_waiting:
            return
        excess = len(connections) - len(self._leaving) - MOST_CONNECTIONS
        while excess > 0 and self._silent:
            connection, since = next(iter(self._silent.items()))
            if loop.time() - since < _SILENT_SECONDS:
                break
            del self._silent[connection]
            self._leaving.add(connection)
            # What has arrived meanwhile is read in the next round of the event loop.
            loop.call_soon(loop.call_soon, self._close, connection)
            excess -= 1
        if excess > 0:
            self._is_waiting = True
            loop.call_later(_SILENT_SECONDS, self._make_later, connections, loop)

    def _make_later(self, connections: Sized, loop: asyncio.AbstractEventLoop) -> None:
        self._is_waiting = False
        self.make(connections, loop)

    def _close(self, connection: Connection) -> None:
        if not connection.close_if_silent():
            self._leaving.discard(connection)
