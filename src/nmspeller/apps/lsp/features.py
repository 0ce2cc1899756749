"""Connects the messages of the protocol to the methods of the server."""

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from nmspeller.apps.lsp import actions
from nmspeller.apps.lsp.options import WATCHED_FILES
from nmspeller.apps.lsp.server import SpellingServer

SECTION = "nmspeller"


def connect(server: SpellingServer) -> SpellingServer:
    """The server, with handlers for all supported messages."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.initialize(params.initialization_options, params.locale)

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        _register(server)
        await configure(None)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration_changed(params: types.DidChangeConfigurationParams) -> None:
        await configure(params.settings)

    async def configure(sent: Any) -> None:
        """Some editors send their settings, others only notify of a change and expect a request."""
        options = sent.get(SECTION) if isinstance(sent, dict) else None
        if options is None:
            options = await _request_settings(server)
        server.configure(options)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(_: types.DidChangeWatchedFilesParams) -> None:
        server.check_all()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(_: types.DidSaveTextDocumentParams) -> None:
        # Not every editor watches files, and this may be the project's words; unchanged texts cost nothing.
        server.check_all()

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=actions.KINDS))
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await server.code_actions(params)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await server.hover(params)

    @server.command(actions.ADD_WORD)
    async def add_word(uri: str, word: str) -> None:
        await server.add_word(uri, word)

    @server.command(actions.IGNORE)
    def ignore(uri: str, source: str, target: str, context: str) -> None:
        server.ignore(uri, source, target, context)

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.stop()

    return server


async def _request_settings(server: SpellingServer) -> Any:
    """The editor's settings, if it supports such requests."""
    workspace = server.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return None
    items = [types.ConfigurationItem(section=SECTION)]
    try:
        answer = await server.workspace_configuration_async(types.ConfigurationParams(items))
    except JsonRpcException:
        return None
    return next(iter(answer or ()), None)


def _register(server: SpellingServer) -> None:
    """Register for changes of settings and project files, if the editor supports registration."""
    workspace = server.client_capabilities.workspace
    registrations: list[types.Registration] = []
    if workspace and (settings := workspace.did_change_configuration) and settings.dynamic_registration:
        options: Any = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
        registrations.append(
            types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options)
        )
    if workspace and (files := workspace.did_change_watched_files) and files.dynamic_registration:
        watchers = [types.FileSystemWatcher(glob_pattern=f"**/{name}") for name in WATCHED_FILES]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        registrations.append(types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    if registrations:
        server.client_register_capability(types.RegistrationParams(registrations))
