"""How large a body may be, and how long it may take to come."""

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nmspeller.apps.http import errors
from nmspeller.apps.http.answers import error_response
from nmspeller.apps.http.connections import LONGEST_HEAD_SECONDS, NO_CONNECTION
from nmspeller.apps.http.errors import ApiError

_LEAST_BYTES_A_SECOND = 10_000
# All bodies that are not complete, together: so much, or a few of the largest.
_MOST_BYTES = 128_000_000
_MOST_WHOLE_BODIES = 4


class BodyLimit:
    """Reads a body only up to a size and a time, whether or not its length was announced.

    After some seconds it must have come with a least rate. All bodies together have a limit, too.
    `scope["nmspeller.deadline"]` is when the time of the whole request is over, as the event loop counts it.
    """

    def __init__(self, app: ASGIApp, *, limit: int, seconds: float) -> None:
        self._app = app
        self._limit = limit
        self._seconds = seconds
        self._received = 0  # bytes of bodies that are not complete

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["nmspeller.deadline"] = anyio.current_time() + self._seconds
        try:
            self._raise_if_announced_wrongly(Headers(scope=scope))
            with scope.get("nmspeller.connection", NO_CONNECTION).waiting_for_client(self._seconds):
                body = await self._read(receive, scope["nmspeller.deadline"])
        except TimeoutError:
            await error_response(scope, errors.body_too_slow().and_close())(scope, receive, send)
        except ApiError as error:
            await error_response(scope, error.and_close())(scope, receive, send)
        else:
            if body is not None:
                await self._app(scope, _replay(body, receive), send)

    def _raise_if_announced_wrongly(self, headers: Headers) -> None:
        announced = headers.get("content-length", "")
        if announced and "transfer-encoding" in headers:
            raise errors.two_lengths()
        if announced.isdecimal() and int(announced) > self._limit:
            raise errors.body_too_large(self._limit)
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise errors.compressed()

    async def _read(self, receive: Receive, deadline: float) -> bytes | None:
        """The whole body; None where the client went away."""
        began = anyio.current_time()
        pieces: list[bytes] = []
        size = 0
        try:
            while True:
                due = began + LONGEST_HEAD_SECONDS + size / _LEAST_BYTES_A_SECOND
                with anyio.fail_after(min(due, deadline) - anyio.current_time()):
                    message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                self._received += len(pieces[-1])
                if size > self._limit:
                    raise errors.body_too_large(self._limit)
                if not message.get("more_body", False):
                    return b"".join(pieces)
                if self._received > max(_MOST_BYTES, _MOST_WHOLE_BODIES * self._limit):
                    raise errors.too_many_requests()
        finally:
            self._received -= size


def _replay(body: bytes, receive: Receive) -> Receive:
    """Receive the body again, then what follows it."""
    given = False

    async def replaying() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replaying
