"""Middleware for all requests: metrics, logs, security headers, language, limits."""

import asyncio
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nmspeller.apps.http import errors, logs
from nmspeller.apps.http.answers import error_response
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.metrics import Metrics
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
_SECONDS_UNTIL_FEWER_REQUESTS = 5


class Observed:
    """Counts and logs requests, by route and never by query, and adds the security headers to answers."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0

        async def observed_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _SECURITY_HEADERS.items():
                    headers[name] = value
            await send(message)

        try:
            await self._app(scope, receive, observed_send)
        finally:
            seconds = time.perf_counter() - began
            path = getattr(scope.get("route"), "path", None) or "other"
            # A client that disconnected has no status; 499 is what proxies write for it.
            status = status or 499
            self._metrics.requests.labels(path, str(status)).inc()
            self._metrics.seconds.labels(path).observe(seconds)
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
    """Limits how many requests are in hand at a time; health checks are answered in any case."""

    def __init__(self, app: ASGIApp, *, limit: int) -> None:
        self._app = app
        self._limit = limit
        self._in_hand = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _HEALTH_CHECKS:
            await self._app(scope, receive, send)
            return
        if self._in_hand >= self._limit:
            error = errors.too_many_requests(_SECONDS_UNTIL_FEWER_REQUESTS)
            await error_response(scope, error)(scope, receive, send)
            return
        self._in_hand += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._in_hand -= 1


class BodyLimit:
    """Reads a body only up to a size and a time, whether or not its length was announced.

    `scope["nmspeller.deadline"]` is when the time of the whole request is over, as the event loop counts it;
    the time began when the protocol had read the head.
    """

    def __init__(self, app: ASGIApp, *, limit: int, seconds: float) -> None:
        self._app = app
        self._limit = limit
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = Headers(scope=scope)
            announced = headers.get("content-length", "")
            if announced and "transfer-encoding" in headers:
                raise errors.two_lengths()
            if announced.isdecimal() and int(announced) > self._limit:
                raise errors.body_too_large(self._limit)
            now = asyncio.get_running_loop().time()
            deadline = scope.get("nmspeller.received", now) + self._seconds
            if now >= deadline:
                raise errors.out_of_time(self._seconds)
            scope["nmspeller.deadline"] = deadline
            body = await asyncio.wait_for(self._read(receive), deadline - now)
        except asyncio.TimeoutError:
            await error_response(scope, errors.body_too_slow())(scope, receive, send)
        except ApiError as error:
            await error_response(scope, error)(scope, receive, send)
        else:
            if body is not None:
                await self._app(scope, _replay(body, receive), send)

    async def _read(self, receive: Receive) -> bytes | None:
        """The whole body; None where the client went away."""
        pieces: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > self._limit:
                raise errors.body_too_large(self._limit)
            if not message.get("more_body", False):
                return b"".join(pieces)


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
