"""The language server: the editor is heard on the event loop, the speller works in one other thread.

A check is a task. A newer text cancels it, so that a stale result can never be published, and it hands the
thread one small batch of lines at a time, so that documents take turns and nothing waits long for an end.
"""

import asyncio
import contextlib
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method
from pygls.protocol.json_rpc import RPCRequest
from pygls.uris import to_fs_path

from nmspeller import __version__
from nmspeller.apps.documents.prose import passages
from nmspeller.apps.lsp import actions
from nmspeller.apps.lsp.document import Document
from nmspeller.apps.lsp.findings import Finding, Prose, batches, cut, place
from nmspeller.apps.lsp.rules import Place, Rules
from nmspeller.apps.lsp.settings import Settings
from nmspeller.errors import InputError
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.correction import Edit
from nmspeller.text.script import Script, detect

_SECONDS_BETWEEN_PARTIAL_RESULTS = 1.0
_SECONDS_A_QUICK_FIX_WAITS = 2.0
_SECONDS_TO_WAIT_FOR_SETTINGS = 2.0

Result = TypeVar("Result")


class MakeSpeller(Protocol):
    """Loads a speller for a model folder, None for the shipped model; `nmspeller.Speller` does."""

    def __call__(self, model: str | None, *, replacements: Mapping[str, str], prefilter: bool) -> Checker: ...


@dataclass
class _Open:
    """An open document, and what is known of it so far."""

    document: Document
    rules: Rules | None = None
    edits: dict[str, tuple[Edit, ...]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    check: "asyncio.Task[None] | None" = None
    hurry: asyncio.Event = field(default_factory=asyncio.Event)


class _Protocol(LanguageServerProtocol):
    """pygls' protocol, with the server's own documents in place of pygls'."""

    _server: "SpellingServer"

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
        """The message in pygls' types; a request that has none is refused, since its editor waits for it."""
        try:
            return super().structure_message(data)
        except JsonRpcException:
            if "method" in data and isinstance(data.get("id"), int | str):
                refusal = JsonRpcInvalidParams(f"The parameters do not fit {data['method']!r}.")
                self._send_response(data["id"], error=refusal.to_response_error())
            raise

    def handle_message(self, message: Any) -> None:
        """Refuse what an editor asks after `shutdown`: pygls would leave it waiting."""
        if self._shutdown and isinstance(message, RPCRequest):
            refusal = JsonRpcInvalidRequest("The server has been shut down.")
            self._send_response(message.id, error=refusal.to_response_error())
        else:
            super().handle_message(message)


class SpellingServer(LanguageServer):
    """A language server around the spellers that `make_speller` loads."""

    protocol: _Protocol

    def __init__(self, make_speller: MakeSpeller, *, prefilter: bool = False) -> None:
        super().__init__(
            "nmspeller", __version__, protocol_cls=_Protocol, converter_factory=default_converter
        )
        self._command_line = {"prefilter": prefilter}
        self.settings = Settings(prefilter=prefilter)
        self.shut_down = False
        self._initial_options: Any = None
        self._configured = asyncio.Event()
        self._speller = lru_cache(maxsize=2)(partial(_load, make_speller))
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="speller")
        self._open: dict[str, _Open] = {}
        self._ignored: set[tuple[str, str, str, str]] = set()
        self._said: set[str] = set()

    # What the editor tells.

    def open(self, item: types.TextDocumentItem) -> None:
        """A document was opened."""
        self.close(item.uri)
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        document = Document(
            item.uri, item.language_id, item.version, item.text, types.PositionEncodingKind(encoding).value
        )
        self._open[item.uri] = _Open(document)
        self._start_check(item.uri, delay=0)

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        """A document was edited; what was said of unopened ones is not for us."""
        uri = params.text_document.uri
        if (state := self._open.get(uri)) is not None:
            state.document = state.document.changed(params.content_changes, params.text_document.version)
            self._start_check(uri)

    def close(self, uri: str) -> None:
        """A document was closed: its diagnostics go."""
        if (state := self._open.pop(uri, None)) is not None:
            _cancel(state)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def initialize(self, options: Any) -> None:
        """The editor's first settings; they hold wherever it does not set something else later."""
        self._initial_options = options
        self._apply(None)

    def configure(self, options: Any) -> None:
        """The editor's settings are now these; what was opened before they came has waited for them."""
        self._apply(options)
        self._configured.set()

    def _apply(self, options: Any) -> None:
        settings, complaints = Settings.read(self._command_line, self._initial_options, options)
        changed = settings != self.settings
        self.settings = settings
        if changed:
            self._said.clear()
        for complaint in complaints:
            self._say(complaint)
        if changed:
            self.check_all()

    def check_all(self) -> None:
        """Look at every open document again, because something other than its text may have changed."""
        for uri in self._open:
            self._start_check(uri, delay=0)

    def stop(self) -> None:
        """Drop all work; what the thread has in hand is a fraction of a second."""
        self.shut_down = True
        for state in self._open.values():
            _cancel(state)
        self._thread.shutdown(wait=False, cancel_futures=True)

    # What the editor asks.

    async def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The actions at a range: quick fixes of what is found so far, fix-all once all is checked."""
        state = self._open.get(params.text_document.uri)
        if state is None:
            return []
        only = params.context.only
        if only is not None and actions.wanted(actions.FIX_ALL, only):
            state.hurry.set()
            await self._checked(state, None)
        else:
            await self._checked(state, _SECONDS_A_QUICK_FIX_WAITS)
        found: list[types.CodeAction] = []
        versioned = self._edits_are_versioned()
        if actions.wanted(types.CodeActionKind.QuickFix.value, only):
            found += actions.quick_fixes(state.document, state.findings, params.range, versioned=versioned)
        if actions.wanted(actions.FIX_ALL, only) and (found or only is not None):
            found += actions.fix_all(state.document, state.findings, versioned=versioned)
        return found

    async def add_word(self, uri: str, word: str) -> None:
        """Put a word into the user's file, and look at every document with it."""
        try:
            await self._in_thread(self._place(uri).add_word, word)
        except InputError as wrong:
            self._say(str(wrong))
        self.check_all()

    def ignore(self, uri: str, source: str, target: str, context: str) -> None:
        """Do not show this finding in this document again, as long as the server lives."""
        self._ignored.add((uri, source, target, context))
        if uri in self._open:
            self._start_check(uri, delay=0)

    # How a check goes.

    def _start_check(self, uri: str, delay: float | None = None) -> None:
        state = self._open[uri]
        _cancel(state)
        state.findings = []
        state.hurry = asyncio.Event()
        seconds = self.settings.debounce / 1000 if delay is None else delay
        state.check = asyncio.get_running_loop().create_task(self._check(state, seconds))

    async def _check(self, state: _Open, delay: float) -> None:
        """Wait until the writer pauses, check what is new, and publish.

        Nothing else runs between the last `await` and the publishing, and a newer text cancels this task:
        what is published is always about the text as it is.
        """
        await _wait(self._configured, _SECONDS_TO_WAIT_FOR_SETTINGS)
        self._configured.set()  # an editor that did not answer may never do so
        await _wait(state.hurry, delay)
        try:
            if not self.settings.enable:
                self._publish(state, [])
                return
            place = self._place(state.document.uri)
            rules, complaints = await self._in_thread(place.rules, state.document.language)
            for complaint in complaints:
                self._say(complaint)
            if state.rules is not None and rules != state.rules:
                # A new dictionary: what the thread has in hand for the old rules still goes into the old one.
                same = await self._in_thread(rules.unchanged_since, state.rules, list(state.edits))
                state.edits = {text: state.edits[text] for text in same}
            state.rules = rules
            prose: list[Prose] = []
            if not rules.ignored:
                prose = await self._in_thread(self._read, state.document.text, rules)
            texts = [part.text for _, parts in prose for part in parts]
            await self._check_new(state, rules, prose, texts)
            state.edits = {text: state.edits[text] for text in texts}
            self._publish(state, prose)
        except InputError as wrong:
            self._publish(state, [])
            self._say(str(wrong))
        except Exception as bug:
            # The editor must keep its server whatever happens to one text.
            self._publish(state, [])
            self._say(f"The speller failed on this document ({type(bug).__name__}: {bug}); please report it.")

    def _read(self, text: str, rules: Rules) -> list[Prose]:
        """In the thread: the prose of a document; only prose needs a speller."""
        found = passages(text, rules.format)
        if not found:
            return []
        window = self._speller_of(rules).window
        return [cut(passage, window) for passage in found]

    async def _check_new(self, state: _Open, rules: Rules, prose: list[Prose], texts: list[str]) -> None:
        """Ask the speller about the texts that are new; of a long document, show what is found on the way."""
        edits, document_script = state.edits, detect("".join(texts))
        shown = monotonic()
        for batch in batches(text for text in texts if text not in edits):
            # The thread keeps what was paid for in `edits`, even if this task is cancelled meanwhile.
            await self._in_thread(self._check_batch, batch, rules, edits, document_script)
            if monotonic() - shown > _SECONDS_BETWEEN_PARTIAL_RESULTS:
                self._publish(state, prose)
                shown = monotonic()

    def _check_batch(
        self, batch: list[str], rules: Rules, edits: dict[str, tuple[Edit, ...]], document_script: Script
    ) -> None:
        """In the thread: put each text's edits into `edits`."""
        corrections = self._speller_of(rules).check_many(
            batch, level=rules.level, words=rules.words, document_script=document_script
        )
        edits.update((text, correction.edits) for text, correction in zip(batch, corrections, strict=True))

    def _speller_of(self, rules: Rules) -> Checker:
        return self._speller(rules.model, rules.replacements, rules.prefilter)

    def _publish(self, state: _Open, prose: list[Prose]) -> None:
        document = state.document
        state.findings = [
            finding
            for finding in place(document.text, prose, state.edits)
            if (document.uri, *finding.key) not in self._ignored
        ]
        shown = [actions.diagnostic(document, finding) for finding in state.findings]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(document.uri, shown, document.version)
        )

    async def _checked(self, state: _Open, seconds: float | None) -> None:
        """Wait until the document as it is now is checked; a change on the way begins the wait anew."""
        deadline = None if seconds is None else monotonic() + seconds
        while (task := state.check) is not None and not task.done():
            left = None if deadline is None else deadline - monotonic()
            if left is not None and left <= 0:
                return
            await asyncio.wait({task}, timeout=left)

    async def _in_thread(self, function: Callable[..., Result], *arguments: Any) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    # Small talk.

    def _say(self, sentence: str) -> None:
        """Show a sentence, once until the settings change: a check fails at every keystroke if it fails."""
        if sentence not in self._said:
            self._said.add(sentence)
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Warning, f"nmspeller: {sentence}")
            )

    def _place(self, uri: str) -> Place:
        """The document's file, and the innermost folder of the workspace that holds it, or else the first."""
        path = _path(uri)
        opened = [folder.uri for folder in self.workspace.folders.values()] or [self.workspace.root_uri]
        roots = [root for root in map(_path, opened) if root is not None]
        holding = [root for root in roots if path is not None and root in path.parents]
        root = max(holding, key=lambda root: len(root.parts)) if holding else next(iter(roots), None)
        return Place(path, root, self.settings)

    def _edits_are_versioned(self) -> bool:
        workspace = self.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace else None
        return bool(edit and edit.document_changes)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """What pygls cannot make sense of is noted on standard error; a person could do nothing about it."""
        print(f"nmspeller: {source.__name__}: {error}", file=sys.stderr)


def _load(
    make_speller: MakeSpeller,
    model: str | None,
    replacements: tuple[tuple[str, str], ...],
    prefilter: bool,
) -> Checker:
    """A speller, from arguments that a cache can compare."""
    return make_speller(model, replacements=dict(replacements), prefilter=prefilter)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Until the event, but no longer than this."""
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


def _cancel(state: _Open) -> None:
    if state.check is not None:
        state.check.cancel()


def _path(uri: str | None) -> Path | None:
    """The file a URI names, if it names one: an unsaved buffer (`untitled:`) has none."""
    if uri is None or not uri.startswith("file:"):
        return None
    path = to_fs_path(uri)
    return Path(path) if path else None
