"""The messages of the protocol that pygls would handle differently."""

from abc import ABC, abstractmethod
from typing import Any

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method
from pygls.protocol.json_rpc import RPCRequest

from nmspeller.messages import speak


def converter() -> Converter:
    """pygls' converter, which also reads changes from editors that do not number their versions."""
    made: Converter = default_converter()  # type: ignore[no-untyped-call]
    made.register_structure_hook(
        types.VersionedTextDocumentIdentifier,
        lambda given, _: made.structure(given, types.OptionalVersionedTextDocumentIdentifier),
    )
    return made


class ServerOfDocuments(LanguageServer, ABC):
    """A server that keeps the open documents itself, and knows the user's language."""

    language: str

    @abstractmethod
    def open(self, item: types.TextDocumentItem) -> None:
        """A document was opened."""

    @abstractmethod
    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        """A document was edited."""

    @abstractmethod
    def lose(self, uri: str) -> None:
        """A document was edited in a way that could not be read."""

    @abstractmethod
    def close(self, uri: str) -> None:
        """A document was closed."""


class SpellingProtocol(LanguageServerProtocol):
    """pygls' protocol, with the server's own documents in place of pygls'."""

    _server: ServerOfDocuments
    _initialized = False

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._server.open(params.text_document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._server.change(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.close(params.text_document.uri)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """The message in pygls' types; the editor waits for an answer to an invalid request as well."""
        try:
            return super().structure_message(data)
        except JsonRpcException:
            if "method" in data and isinstance(data.get("id"), int | str):
                error = self._refusal(data["method"]) or JsonRpcInvalidParams(
                    f"The parameters do not fit {data['method']!r}."
                )
                self._send_response(data["id"], error=error.to_response_error())
            elif data.get("method") == types.TEXT_DOCUMENT_DID_CHANGE and (uri := _document(data)):
                speak(self._server.language)
                self._server.lose(uri)
            raise

    def handle_message(self, message: Any) -> None:
        """Answer requests before `initialize` and after `shutdown` with an error: pygls would not.

        What is said while the message is handled, also by tasks that it starts, is in the user's language.
        """
        speak(self._server.language)
        method = getattr(message, "method", None)
        if isinstance(message, RPCRequest) and (error := self._refusal(method)):
            self._send_response(message.id, error=error.to_response_error())
        elif self._initialized or method in (None, types.INITIALIZE, types.EXIT):
            self._initialized |= method == types.INITIALIZE
            super().handle_message(message)

    def _refusal(self, method: Any) -> JsonRpcException | None:
        """Why a request cannot be answered at this time."""
        if self._shutdown:
            return JsonRpcInvalidRequest("The server has been shut down.")
        if not self._initialized and method != types.INITIALIZE:
            return JsonRpcServerNotInitialized("Send `initialize` first.")
        return None


def _document(data: dict[str, Any]) -> str | None:
    """The document that a message is about, as far as it can be read."""
    try:
        uri = data["params"]["textDocument"]["uri"]
    except (KeyError, TypeError):
        return None
    return uri if isinstance(uri, str) else None
