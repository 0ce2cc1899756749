"""HTTP as uvicorn speaks it, with limits on how long a head may take to arrive and an answer to leave."""

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
    """Ends a connection whose client is too slow; else a few idle ones would shut all others out.

    A head that is not complete in time ends it, and an answer that the client does not take. What comes after
    the head is timed by the application, and an idle connection after an answer by uvicorn.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._deadline: asyncio.TimerHandle | None = None
        self._answer_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # Writing pauses as soon as something waits for the client, and goes on when nothing does.
        transport.set_write_buffer_limits(0)
        self._time_the_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._time_the_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_timing()
        self._stop_timing_the_answer()

    def pause_writing(self) -> None:
        """The client has not taken all of the answer yet."""
        super().pause_writing()
        # Not `close`, which would wait until the client has taken the rest.
        self._answer_deadline = self.loop.call_later(_time_limit(), self.transport.abort)

    def resume_writing(self) -> None:
        """The client has taken what there was."""
        super().resume_writing()
        self._stop_timing_the_answer()

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

    def _stop_timing_the_answer(self) -> None:
        if self._answer_deadline is not None:
            self._answer_deadline.cancel()
            self._answer_deadline = None
