"""How many requests are in hand at a time, and who has too much waiting for one more."""

from starlette.types import ASGIApp, Receive, Scope, Send

from nmspeller.apps.http import errors
from nmspeller.apps.http.answers import error_response
from nmspeller.apps.http.clients import client_of
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.service import Service

_HEALTH_CHECKS = frozenset(("/healthz", "/readyz", "/v2/healthcheck", "/healthcheck"))
CHECKS = frozenset(("/v1/check", "/v1/files", "/v2/check", "/check"))
"""The addresses whose requests wait for the engine."""
_SHARE_OF_A_CLIENT = 2


class RequestLimit:
    """Limits how many requests are in hand at a time, of all and of one client; health checks always pass.

    A request is in hand when its body is: one that never comes takes no place. Where one client sends more
    than the engine can read, most of its requests end here, and cost the others next to nothing.
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
        try:
            self._raise_if_too_many(scope["path"], client)
        except ApiError as error:
            await error_response(scope, error)(scope, receive, send)
            return
        in_hand[client] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            in_hand[client] -= 1
            if not in_hand[client]:
                del in_hand[client]

    def _raise_if_too_many(self, path: str, client: str) -> None:
        in_hand = self._service.in_hand
        if in_hand.total() >= self._limit or in_hand[client] >= self._limit // _SHARE_OF_A_CLIENT:
            raise errors.too_many_requests()
        if path in CHECKS:
            self._service.queue.raise_if_full(client)
