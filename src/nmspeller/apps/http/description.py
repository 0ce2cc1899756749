"""The OpenAPI document, as it is true of one server: with or without an API key."""

from typing import Any

from fastapi import FastAPI

_LANGUAGETOOL_KEY = "LanguageToolKey"
_BEARER = "HTTPBearer"


def describe_security(app: FastAPI, *, has_key: bool) -> None:
    """Make the document of `app` declare security only where requests need a key."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = generate()
            _require_key(document) if has_key else _require_no_key(document)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


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
