"""The API key, which is tested as soon as the head of a request is there."""

import hmac
from collections import Counter
from urllib.parse import parse_qs

from fastapi import Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from nmspeller.apps.http import errors
from nmspeller.apps.http.answers import error_response
from nmspeller.apps.http.clients import client_of
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.settings import Settings

_bearer = HTTPBearer(auto_error=False, description="The server's API key, where it was started with one.")
_LANGUAGETOOL_CHECK = frozenset(("/v2/check", "/check"))
_MOST_WITHOUT_KEY = 32
"""How many bodies are read at a time to look for the key, which LanguageTool's clients may send there."""
_MOST_OF_A_CLIENT = 8


def is_right_key(settings: Settings, given: str | None) -> bool:
    """Whether a request has the key, if there is one; compared in constant time."""
    if settings.api_key is None:
        return True
    return hmac.compare_digest((given or "").encode("utf-8", "replace"), settings.api_key.encode())


def bearer_key(headers: Headers) -> str | None:
    """The key in the request's Authorization header."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None


async def require_key(
    request: Request, _described: HTTPAuthorizationCredentials | None = Security(_bearer)
) -> None:
    """Raise an error for a request without the key. The second argument is for the OpenAPI document.

    It is asynchronous so that the framework does not start a thread for it.
    """
    if not is_right_key(request.app.state.service.settings, bearer_key(request.headers)):
        raise errors.wrong_key()


class KeyCheck:
    """Refuses a request without the key before its body is read."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._without_key: Counter[str] = Counter()  # bodies of each client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._settings.api_key is None or not _needs_key(scope["path"]):
            await self._app(scope, receive, send)
            return
        in_query = parse_qs(scope["query_string"].decode("latin-1")).get("apiKey", [None])[0]
        given = bearer_key(Headers(scope=scope)) or in_query
        if is_right_key(self._settings, given):
            await self._app(scope, receive, send)
        elif given is not None or scope["path"] not in _LANGUAGETOOL_CHECK:
            await _refuse(errors.wrong_key(), scope, receive, send)
        elif self._is_full_for(client := client_of(scope)):
            await _refuse(errors.too_many_requests(), scope, receive, send)
        else:
            self._without_key[client] += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._without_key -= Counter([client])

    def _is_full_for(self, client: str) -> bool:
        is_full = self._without_key.total() >= _MOST_WITHOUT_KEY
        return is_full or self._without_key[client] >= _MOST_OF_A_CLIENT


def _needs_key(path: str) -> bool:
    return path.startswith("/v1/") or path == "/metrics" or path in _LANGUAGETOOL_CHECK


async def _refuse(error: ApiError, scope: Scope, receive: Receive, send: Send) -> None:
    await error_response(scope, error.and_close())(scope, receive, send)
