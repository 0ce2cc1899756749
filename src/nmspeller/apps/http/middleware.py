"""Middleware for all requests: metrics, logs, security headers, language, limits."""

import asyncio
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nmspeller.apps.http import errors, logs
from nmspeller.apps.http.answers import error_response
from nmspeller.apps.http.clients import client_of
from nmspeller.apps.http.connections import LONGEST_HEAD_SECONDS, NO_CONNECTION, Connections
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.service import Service
from nmspeller.messages import language_of_header, speaking

_SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_HEALTH_CHECKS = frozenset(("/healthz", "/readyz", "/v2/healthcheck", "/healthcheck"))
_LEAST_BYTES_A_SECOND = 10_000
_SHARE_OF_A_CLIENT = 2
# All bodies that are not complete, together: so much, or a few of the largest.
_MOST_BYTES = 128_000_000
_MOST_WHOLE_BODIES = 4


class Observed:
    """Counts and logs requests, by route and never by query, and adds the security headers to answers.

    It also notes on the connection when it is the client's turn to read.
    """

    def __init__(self, app: ASGIApp, service: Service, connections: Connections) -> None:
        self._app = app
        self._service = service
        self._connections = connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0
        time_limit = self._service.settings.time_limit
        connection = scope["nmspeller.connection"] = self._connections.of(scope) or NO_CONNECTION

        async def observed_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _SECURITY_HEADERS.items():
                    headers[name] = value
                if "content-length" not in headers:  # it comes in parts, which proxies shall not collect
                    headers["X-Accel-Buffering"] = "no"
                if self._service.stopping:
                    headers["Connection"] = "close"
            with connection.waiting_for_client(time_limit):
                await send(message)

        try:
            await self._app(scope, receive, observed_send)
        finally:
            connection.wait_for_client(time_limit)
            seconds = time.perf_counter() - began
            path = getattr(scope.get("route"), "path", None) or "other"
            # A client that disconnected has no status; 499 is what proxies write for it.
            status = status or 499
            self._service.metrics.requests.labels(path, str(status)).inc()
            self._service.metrics.seconds.labels(path).observe(seconds)
            logs.event(
                "request",
                method=scope["method"],
                path=path,
                status=status,
                milliseconds=round(1000 * seconds, 1),
                **scope.get("nmspeller.log", {}),
            )


class Spoken:
    """Answers each request in the language of its `Accept-Language`; in English where it names none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        accepted = Headers(scope=scope).get("accept-language", "")
        with speaking(language_of_header(accepted) or "en"):
            await self._app(scope, receive, send)


class HeadAsGet:
    """Answers HEAD as GET without the body; the length that GET would have is announced."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_no_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, send_no_body)


class Failures:
    """Answers an unforeseen exception with a sentence.

    The framework would do it outside of all other middleware, so that the answer would be counted as that of
    a client that went away, and could not be read by pages of other origins.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def noting_send(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting_send)
        except Exception as failure:
            if begun:
                raise  # closing the connection shows that the answer is incomplete
            logs.failure("request failed", failure)
            await error_response(scope, errors.server_failed())(scope, receive, send)


class RequestLimit:
    """Limits how many requests are in hand at a time, of all and of one client; health checks always pass.

    A request is in hand when its body is: one that never comes takes no place.
    """

    def __init__(self, app: ASGIApp, service: Service, limit: int) -> None:
        self._app = app
        self._service = service
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _HEALTH_CHECKS:
            await self._app(scope, receive, send)
            return
        in_hand, client = self._service.in_hand, client_of(scope)
        if in_hand.total() >= self._limit or in_hand[client] >= self._limit // _SHARE_OF_A_CLIENT:
            await error_response(scope, errors.too_many_requests())(scope, receive, send)
            return
        in_hand[client] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            in_hand[client] -= 1
            if not in_hand[client]:
                del in_hand[client]


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
        scope["nmspeller.deadline"] = asyncio.get_running_loop().time() + self._seconds
        try:
            self._raise_if_announced_wrongly(Headers(scope=scope))
            with scope.get("nmspeller.connection", NO_CONNECTION).waiting_for_client(self._seconds):
                body = await self._read(receive, scope["nmspeller.deadline"])
        except asyncio.TimeoutError:
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

    async def _read(self, receive: Receive, deadline: float) -> bytes | None:
        """The whole body; None where the client went away."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        pieces: list[bytes] = []
        size = 0
        try:
            while True:
                due = began + LONGEST_HEAD_SECONDS + size / _LEAST_BYTES_A_SECOND
                message = await asyncio.wait_for(receive(), min(due, deadline) - loop.time())
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
