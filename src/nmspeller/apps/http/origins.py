"""Which pages of a browser may use the server: its own, and those that `--allow-origin` names.

A page of another site could send requests to a server on the reader's own machine, and read the answers too
once the site's name leads to 127.0.0.1 (DNS rebinding).
"""

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from nmspeller.apps.http import errors
from nmspeller.apps.http.answers import error_response, speaks_languagetool
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.settings import Settings
from nmspeller.text.patterns import lazy_pattern

_PAGES = frozenset(("/", "/docs"))
ADD_ON = lazy_pattern("(?:chrome|moz|safari-web)-extension://.*")
"""The origin of an add-on, which the reader installed. Those for LanguageTool ask from pages of their own.

Firefox lets them read an answer only if the server allows it."""


class OriginCheck:
    """Refuses requests to a host name that is not the server's, and those that a foreign page sends."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = self._error(scope) if scope["type"] == "http" else None
        if error is not None:
            await error_response(scope, error)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _error(self, scope: Scope) -> ApiError | None:
        headers = Headers(scope=scope)
        if not self._is_own_host(headers.get("host", "")):
            return errors.wrong_host()
        if not self._may_ask(scope, headers):
            return errors.wrong_origin()
        return None

    def _is_own_host(self, host: str) -> bool:
        """No browser leaves it out; on other machines a name in the network cannot be foretold."""
        if not host or not (self._settings.is_loopback or self._settings.allow_hosts):
            return True
        name = (urlsplit(f"//{host}").hostname or "") if _is_well_formed(host) else ""
        return name == "localhost" or name in self._settings.allow_hosts or _is_loopback(name)

    def _may_ask(self, scope: Scope, headers: Headers) -> bool:
        origin, site = headers.get("origin", ""), headers.get("sec-fetch-site")
        if "*" in self._settings.allow_origins or origin in self._settings.allow_origins:
            return True
        if ADD_ON.fullmatch(origin) and speaks_languagetool(scope["path"]):
            return True
        if site is None:  # an old browser, or no browser at all
            return not origin or origin.partition("://")[2] == headers.get("host")
        # A link on another page may lead to ours.
        is_link = headers.get("sec-fetch-mode") == "navigate" and scope["path"] in _PAGES
        return site in ("same-origin", "none") or (is_link and scope["method"] in ("GET", "HEAD"))


def _is_well_formed(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").port != 0
    except ValueError:
        return False


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
