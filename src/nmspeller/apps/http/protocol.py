"""HTTP as uvicorn speaks it, with a limit on how long a request's head may take to arrive."""

import asyncio
from functools import cache
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from nmspeller.apps.http.settings import Settings


@cache
def _time_limit() -> float:
    """Seconds; a process is told once, and this is asked on every connection."""
    return Settings.from_environment().time_limit


class TimedProtocol(H11Protocol):
    """Closes a connection on which a head was not complete in time; else a few idle ones shut all others out.

    What comes after the head is timed by the application, and an idle connection after an answer by uvicorn.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._time_the_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._time_the_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_timing()

    def _time_the_head(self) -> None:
        """Start when there is none yet, however little of it comes at a time, and stop when it is there."""
        awaits_head = self.cycle is None or self.cycle.response_complete
        if not awaits_head:
            self._stop_timing()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(_time_limit(), self.transport.close)

    def _stop_timing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
