"""An editor for the tests: pytest-lsp's client, with the few gestures of a person on top."""

import asyncio
import json
import sys
from functools import cache
from pathlib import Path
from typing import Union
from uuid import uuid4

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import client_capabilities
from pytest_lsp.client import LanguageClient, register_lsp_features
from tests.forking import starting

from nmspeller.apps.lsp.server import STATUS
from nmspeller.messages import speaking

FAKE_SERVER = Path(__file__).with_name("fake_server.py")


@pytest.fixture(autouse=True)
def english():
    """Each test begins in English, whatever the one before it spoke."""
    with speaking("en"):
        yield


class Editor:
    """Opens, types and asks, and keeps its own copy of each text in its own units."""

    def __init__(self, client, folder, log):
        self.client, self.folder, self.log = client, folder, log
        self.texts, self.versions = {}, {}
        self.encoding = "utf-16"
        self.subfolder = ""

    async def start(
        self, *, options=None, encodings=None, root=True, locale="en", capabilities="visual-studio-code"
    ):
        capable = client_capabilities(capabilities)
        capable.experimental = {"nmspellerStatus": True}
        capable.general = capable.general or types.GeneralClientCapabilities()
        capable.general.position_encodings = encodings
        uri = self.folder.as_uri()
        result = await self.client.initialize_session(
            types.InitializeParams(
                capabilities=capable,
                locale=locale,
                root_uri=uri if root else None,
                workspace_folders=[types.WorkspaceFolder(uri, "work")] if root else None,
                initialization_options={"debounce": 0, **(options or {})},
            )
        )
        self.encoding = types.PositionEncodingKind(result.capabilities.position_encoding or "utf-16").value
        return result

    def uri(self, name):
        return (self.folder / self.subfolder / name).as_uri()

    def open(self, name, text, language="plaintext"):
        uri = self.uri(name)
        self.texts[uri], self.versions[uri] = text, 1
        item = types.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def replace(self, uri, start, stop, new):
        """Type `new` over the code points start to stop, as an incremental change."""
        change = types.TextDocumentContentChangePartial(range=self.range(uri, start, stop), text=new)
        self.send_changes(uri, [change], self.texts[uri][:start] + new + self.texts[uri][stop:])

    def send_changes(self, uri, changes, text):
        self.texts[uri] = text
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri])
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    def save(self, uri):
        identifier = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(identifier))

    def close(self, uri):
        identifier = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    async def diagnostics(self, uri):
        """The diagnostics of the text as it is now; earlier versions' are passed over."""
        while True:
            params = await self.client.published[uri].get()
            if params.version == self.versions[uri]:
                return params.diagnostics

    def found(self, uri, diagnostics):
        """What the diagnostics underline, cut out of the editor's own text."""
        return [self.cut(uri, each.range) for each in diagnostics]

    async def actions(self, uri, start, stop=None, only=None):
        params = types.CodeActionParams(
            text_document=types.TextDocumentIdentifier(uri),
            range=self.range(uri, start, start if stop is None else stop),
            context=types.CodeActionContext(diagnostics=[], only=only),
        )
        return list(await self.client.text_document_code_action_async(params) or ())

    async def hover(self, uri, offset):
        position = self.range(uri, offset, offset).start
        return await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), position)
        )

    async def run(self, action):
        command = action.command
        await self.client.workspace_execute_command_async(
            types.ExecuteCommandParams(command=command.command, arguments=command.arguments)
        )

    def apply(self, uri, action):
        """The editor's text after the action's edit."""
        if action.edit.document_changes:
            (change,) = action.edit.document_changes
            assert change.text_document.version == self.versions[uri]
            edits = change.edits
        else:
            edits = action.edit.changes[uri]
        text = self.texts[uri]
        for edit in sorted(
            edits, key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True
        ):
            start, stop = self.span(uri, edit.range)
            text = text[:start] + edit.new_text + text[stop:]
        return text

    def asked(self):
        """The texts that the speller was asked about since the last call."""
        return [text for text, *_ in self.log_lines()]

    async def work_begins(self):
        """Until the speller is asked about something."""
        while not self.log.exists():
            await asyncio.sleep(0.01)

    def log_lines(self):
        if not self.log.exists():
            return []
        lines = self.log.read_text("utf-8").splitlines()
        self.log.unlink()
        return [json.loads(line) for line in lines]

    # The editor's own arithmetic, in bytes: nothing of the server's.

    def _lines(self, uri):
        return self.texts[uri].replace("\r\n", "\n\0").replace("\r", "\n").split("\n")

    def _width(self):
        return {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[self.encoding]

    def range(self, uri, start, stop):
        return types.Range(self._position(uri, start), self._position(uri, stop))

    def _position(self, uri, offset):
        codec, size = self._width()
        for number, line in enumerate(self._lines(uri)):
            # A carriage return before a line feed shows as the next line's first character here: skip it.
            skip = line.startswith("\0")
            if offset - skip <= len(line) - skip:
                return types.Position(
                    number, len(line[skip : max(offset, skip)].encode(codec, "surrogatepass")) // size
                )
            offset -= len(line) + 1
        raise AssertionError("offset beyond the text")

    def span(self, uri, where):
        return self._offset(uri, where.start), self._offset(uri, where.end)

    def _offset(self, uri, position):
        codec, size = self._width()
        lines = self._lines(uri)
        skip = lines[position.line].startswith("\0")
        before = sum(len(line) + 1 for line in lines[: position.line]) + skip
        units = lines[position.line][skip:].encode(codec, "surrogatepass")
        return before + len(units[: position.character * size].decode(codec, "surrogatepass"))

    def cut(self, uri, where):
        start, stop = self.span(uri, where)
        return self.texts[uri][start:stop]

    async def said(self, count=1):
        """The next sentences that the server showed."""
        return [(await self.client.shown.get()).message for _ in range(count)]


class _Queues(dict):
    def __missing__(self, uri):
        self[uri] = asyncio.Queue()
        return self[uri]


@cache
def _converter():
    """One for all clients: what it learns about the protocol's types costs more than most tests."""
    converter = default_converter()
    # lsprotocol takes every action with a command for a bare command, and loses the command's arguments.
    converter.register_structure_hook(
        Union[types.Command, types.CodeAction],  # noqa: UP007 (the converter looks for this very type)
        lambda raw, _: converter.structure(
            raw, types.Command if isinstance(raw.get("command"), str) else types.CodeAction
        ),
    )
    return converter


def _listening_client():
    client = LanguageClient(converter_factory=_converter)
    register_lsp_features(client)
    client.published, client.shown, client.registered = _Queues(), asyncio.Queue(), []
    client.statuses, client.progress = [], []
    features = client.protocol.fm.features
    features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = lambda params: client.published[
        params.uri
    ].put_nowait(params)
    features[types.WINDOW_SHOW_MESSAGE] = lambda params: client.shown.put_nowait(params)
    features[types.PROGRESS] = lambda params: client.progress.append(params.value)
    features[STATUS] = lambda params: client.statuses.append((params.status, params.problem))
    features[types.CLIENT_REGISTER_CAPABILITY] = lambda params: client.registered.extend(params.registrations)
    return client


async def _connected(command, folder, log):
    client = _listening_client()
    await client.start_io(*command)
    return Editor(client, folder, log)


async def _to_fake_server(command, folder):
    log = folder / "asked.jsonl"
    work = folder / "工作 work"
    work.mkdir()
    return await _connected([*command, str(log)], work, log)


@pytest.fixture(scope="session")
def fake_server():
    """The command of the server around the fake speller, to be followed by the file for its log."""
    with starting(FAKE_SERVER) as command:
        yield command


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(fake_server, tmp_path_factory):
    """One server around the fake speller for all tests of a module."""
    editor = await _to_fake_server(fake_server, tmp_path_factory.mktemp("lsp"))
    await editor.start()
    yield editor
    await _say_goodbye(editor)


@pytest_asyncio.fixture(loop_scope="module")
async def editor(running):
    """An editor on the running server, with no document open and nothing said."""
    running.asked()
    running.subfolder = uuid4().hex
    yield running
    for uri in running.texts:
        running.close(uri)
    running.texts.clear()
    while not running.client.shown.empty():
        running.client.shown.get_nowait()


@pytest_asyncio.fixture(loop_scope="module")
async def new_editor(fake_server, tmp_path):
    """An editor with a server of its own, around the fake speller; it has still to `start`."""
    editor = await _to_fake_server(fake_server, tmp_path)
    yield editor
    await _say_goodbye(editor)


@pytest_asyncio.fixture(loop_scope="module")
async def real_editor(tmp_path):
    """An editor connected to the command that people install; it has still to `start`."""
    editor = await _connected([sys.executable, "-m", "nmspeller", "lsp"], tmp_path, tmp_path / "none")
    yield editor
    await _say_goodbye(editor)


async def _say_goodbye(editor):
    await asyncio.wait_for(editor.client.shutdown_session(), 20)
    process = editor.client._server
    await editor.client.stop()
    if process.returncode is None:
        process.kill()
    elif editor.client.capabilities is not None:
        assert process.returncode == 0
