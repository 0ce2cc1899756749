"""JSON and errors as they leave the server."""

import json
from typing import Any

from starlette.responses import PlainTextResponse, Response
from starlette.types import Scope

from nmspeller.apps.http.errors import ApiError


class Json(Response):
    """Compact UTF-8. A lone surrogate, which UTF-8 cannot carry, leaves escaped, as it must have come."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """One line of JSON."""
        return line(content)


def line(content: Any) -> bytes:
    """A value as JSON without a line break."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def error_response(scope: Scope, error: ApiError) -> Response:
    """An error in the form of the protocol that was used: LanguageTool's clients show plain text."""
    if speaks_languagetool(scope["path"]):
        return PlainTextResponse(f"Error: {error.sentence}", error.status, error.headers)
    return Json({"error": error.sentence}, error.status, error.headers)


def speaks_languagetool(path: str) -> bool:
    """Whether a path belongs to LanguageTool's protocol."""
    return path.startswith("/v2/") or path in ("/check", "/languages", "/info", "/maxtextlength")
