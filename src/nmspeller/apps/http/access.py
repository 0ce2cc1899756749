"""The API key."""

import hmac

from fastapi import Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from nmspeller.apps.http import errors
from nmspeller.apps.http.settings import Settings

_bearer = HTTPBearer(auto_error=False, description="The server's API key, where it was started with one.")


def is_right_key(settings: Settings, given: str | None) -> bool:
    """Whether a request has the key, if there is one; compared in constant time."""
    if settings.api_key is None:
        return True
    return hmac.compare_digest((given or "").encode("utf-8", "replace"), settings.api_key.encode())


def bearer_key(request: Request) -> str | None:
    """The key in the request's Authorization header."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None


def require_key(
    request: Request, _described: HTTPAuthorizationCredentials | None = Security(_bearer)
) -> None:
    """Raise an error for a request without the key. The second argument is for the OpenAPI document."""
    if not is_right_key(request.app.state.service.settings, bearer_key(request)):
        raise errors.wrong_key()
