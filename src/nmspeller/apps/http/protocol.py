"""HTTP as uvicorn speaks it, with limits on the number of connections and on how long each may take."""

import asyncio
import json
from functools import cache
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from nmspeller.apps.http.settings import Settings

MOST_CONNECTIONS = 512
"""How many connections, and how many requests, a process has at a time."""
_LONGEST_HEAD_SECONDS = 10.0
_SILENT_SECONDS = 1.0
# How long a connection stays open for a request that was sent before its client could know of the stop.
_LAST_REQUEST_SECONDS = 0.5


@cache
def _time_limit() -> float:
    """In seconds; read once for each process."""
    return Settings.from_environment().time_limit


class LimitedProtocol(H11Protocol):
    """Closes a connection whose client is too slow, or which is silent while others need its place.

    The time for a request head and for reading an answer is limited here; the time for a request body is
    limited by the application, and uvicorn closes an idle connection some seconds after an answer. Where
    there are too many connections, each new one closes the one that has been silent for the longest time.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._head_deadline: asyncio.TimerHandle | None = None
        self._answer_deadline: asyncio.TimerHandle | None = None
        self._silent_since = 0.0
        self._is_stopping = False

    @property
    def is_silent(self) -> bool:
        """Whether there is no request in hand; a part of a head may have come."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # Writing pauses as soon as something waits for the client, and resumes when nothing does.
        transport.set_write_buffer_limits(0)
        self._silent_since = self.loop.time()
        self._time_the_head()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._time_the_head()
        if self._is_stopping and not self.is_silent:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        self._silent_since = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_timing_the_head()
        self._stop_timing_the_answer()

    def shutdown(self) -> None:
        """The server stops: answer the request in hand, or one that is on its way, and close."""
        self._is_stopping = True
        if self.is_silent:
            self.loop.call_later(_LAST_REQUEST_SECONDS, self._close_if_silent)
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP with an error in the documented form."""
        body = json.dumps({"error": "This is not a valid HTTP/1.1 request."}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        response = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def pause_writing(self) -> None:
        """The client has not read all of the answer yet."""
        super().pause_writing()
        # Not `close`, which would wait until the client has read the rest.
        self._answer_deadline = self.loop.call_later(_time_limit(), self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read what there was."""
        super().resume_writing()
        self._stop_timing_the_answer()

    def _make_room(self) -> None:
        """For this connection close another that has been silent, now or as soon as there is one."""
        if len(self.connections) <= MOST_CONNECTIONS or self.transport.is_closing():
            return
        silent = [
            other
            for other in self.connections
            if isinstance(other, LimitedProtocol) and other.is_silent and not other.transport.is_closing()
        ]
        longest = min(silent, key=lambda other: other._silent_since, default=None)
        if longest and self.loop.time() - longest._silent_since >= _SILENT_SECONDS:
            # What has arrived meanwhile is read in the next round of the event loop.
            self.loop.call_soon(self.loop.call_soon, longest._close_if_silent)
        else:
            self.loop.call_later(_SILENT_SECONDS, self._make_room)

    def _close_if_silent(self) -> None:
        if self.is_silent:
            self.transport.close()

    def _time_the_head(self) -> None:
        """Start with the first byte or before, however little comes at a time, and stop with the last."""
        if not self.is_silent:
            self._stop_timing_the_head()
        elif self._head_deadline is None:
            seconds = min(_LONGEST_HEAD_SECONDS, _time_limit())
            self._head_deadline = self.loop.call_later(seconds, self.transport.close)

    def _stop_timing_the_head(self) -> None:
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None

    def _stop_timing_the_answer(self) -> None:
        if self._answer_deadline is not None:
            self._answer_deadline.cancel()
            self._answer_deadline = None
