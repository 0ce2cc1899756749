"""The OpenAPI document, as it is true of one server: with or without an API key, in the reader's language."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI

from nmspeller.messages import _

_LANGUAGETOOL_KEY = "LanguageToolKey"
_BEARER = "HTTPBearer"
_PROSE = ("summary", "description")


def describe(app: FastAPI, *, has_key: bool) -> None:
    """Make the document of `app` declare security only where requests need a key, and translate it."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = generate()
            _require_key(document) if has_key else _require_no_key(document)
            app.openapi_schema = document
        translated: dict[str, Any] = with_prose(app.openapi_schema, _)
        return translated

    app.openapi = openapi  # type: ignore[method-assign]


def with_prose(document: Any, change: Callable[[str], str]) -> Any:
    """A copy of an OpenAPI document, or of a part of it, with another prose."""
    if isinstance(document, list):
        return [with_prose(one, change) for one in document]
    if not isinstance(document, dict):
        return document
    return {
        name: change(value)
        if name in _PROSE and isinstance(value, str) and value
        else with_prose(value, change)
        for name, value in document.items()
    }


def _require_key(document: dict[str, Any]) -> None:
    """LanguageTool's clients may send the key as a field too; FastAPI knows only of the header."""
    schemes = document["components"]["securitySchemes"]
    schemes[_LANGUAGETOOL_KEY] = {"type": "apiKey", "in": "query", "name": "apiKey"}
    for operation in document["paths"]["/v2/check"].values():
        operation["security"] = [{_BEARER: []}, {_LANGUAGETOOL_KEY: []}]


def _require_no_key(document: dict[str, Any]) -> None:
    document["components"].pop("securitySchemes", None)
    for operations in document["paths"].values():
        for operation in operations.values():
            operation.pop("security", None)
            operation["responses"].pop("401", None)
