"""Metrics, a line in the log and security headers for every request."""

import time

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nmspeller.apps.http import logs
from nmspeller.apps.http.connections import NO_CONNECTION, Connections
from nmspeller.apps.http.request_limit import CHECKS
from nmspeller.apps.http.service import Service

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
        connection.has_asked = True

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
            refused = scope["path"] if scope["path"] in CHECKS else "other"  # before it had a route
            path = getattr(scope.get("route"), "path", None) or refused
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
