"""HTTP as uvicorn speaks it, with limits on the number of connections and on how long each may take."""

import asyncio
import json
from functools import cache
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from nmspeller.apps.http.room import Room
from nmspeller.apps.http.settings import Settings

_LONGEST_HEAD_SECONDS = 10.0
# How long a connection stays open for a request that was sent before its client could know of the stop.
_LAST_REQUEST_SECONDS = 0.5
_ROOM = Room()


@cache
def _time_limit() -> float:
    """In seconds; read once for each process."""
    return Settings.from_environment().time_limit


class LimitedProtocol(H11Protocol):
    """Closes a connection whose client is too slow, or which is silent while others need its place.

    The time for a request head and for reading an answer is limited here; the time for a request body is
    limited by the application, and uvicorn closes an idle connection some seconds after an answer. Where
    there are too many connections, each new one closes the one that has been silent for the longest time.

    `scope["nmspeller.received"]` is when the end of a request's head was read, as the event loop counts time:
    where many requests come at once, it may be long until the application is called for the last of them.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._head_deadline: asyncio.TimerHandle | None = None
        self._answer_deadline: asyncio.TimerHandle | None = None
        self._is_stopping = False

    @property
    def is_silent(self) -> bool:
        """Whether there is no request in hand; a part of a head may have come."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # Writing pauses as soon as something waits for the client, and resumes when nothing does.
        transport.set_write_buffer_limits(0)
        _ROOM.note_silent(self, self.loop.time())
        self._time_the_head()
        _ROOM.make(self.connections, self.loop)

    def data_received(self, data: bytes) -> None:
        received = self.loop.time()
        super().data_received(data)
        self._time_the_head()
        if self.is_silent:
            return
        _ROOM.note_busy(self)
        scope: dict[str, Any] = self.scope  # type: ignore[assignment]
        scope.setdefault("nmspeller.received", received)
        if self._is_stopping:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        _ROOM.note_silent(self, self.loop.time())
        super().on_response_complete()
        if not self.is_silent:  # the next request had come already
            _ROOM.note_busy(self)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        _ROOM.note_lost(self)
        self._stop_timing_the_head()
        self._stop_timing_the_answer()

    def shutdown(self) -> None:
        """The server stops: answer the request in hand, or one that is on its way, and close."""
        self._is_stopping = True
        if self.is_silent:
            self.loop.call_later(_LAST_REQUEST_SECONDS, self.close_if_silent)
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

    def close_if_silent(self) -> bool:
        """Close the connection, unless a request has come meanwhile; whether it closes."""
        if self.is_silent:
            self.transport.close()
        return self.is_silent

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
