"""The language server: messages are handled on the event loop, the speller runs in one other thread.

A check is a task. A newer text cancels it, so that a stale result is never published. It submits one small
batch of texts to the thread at a time, so that documents take turns and no request waits long.
"""

import asyncio
import contextlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import to_fs_path

from nmspeller import __version__
from nmspeller.apps.lsp import actions, hover
from nmspeller.apps.lsp.document import OpenDocument
from nmspeller.apps.lsp.findings import EditorFinding, Prose, batches, place
from nmspeller.apps.lsp.options import DocumentPlace, Options
from nmspeller.apps.lsp.progress import WorkDoneProgress
from nmspeller.apps.lsp.protocol import ServerOfDocuments, SpellingProtocol, converter
from nmspeller.apps.lsp.settings import EditorSettings
from nmspeller.apps.lsp.speller_thread import OpenChecker, SpellerThread
from nmspeller.errors import InputError
from nmspeller.messages import _, language_of_environment, language_of_tag, speak
from nmspeller.runtime.edits import Change
from nmspeller.runtime.reading import Part

STATUS = "nmspeller/status"

_SECONDS_BETWEEN_PARTIAL_RESULTS = 1.0
_SECONDS_A_REQUEST_WAITS = 2.0
_SECONDS_TO_WAIT_FOR_SETTINGS = 2.0


@dataclass
class _Open:
    """An open document, and its results so far.

    `lost`: a change could not be read, so that `document` is no longer what the editor shows.
    """

    document: OpenDocument
    lost: bool = False
    options: Options | None = None
    known: dict[Part, tuple[Change, ...]] = field(default_factory=dict)
    findings: list[EditorFinding] = field(default_factory=list)
    check: "asyncio.Task[None] | None" = None
    hurry: asyncio.Event = field(default_factory=asyncio.Event)


class SpellingServer(ServerOfDocuments):
    """A language server around the models that `open_checker` loads."""

    protocol: SpellingProtocol

    def __init__(self, open_checker: OpenChecker, *, prefilter: bool = False) -> None:
        super().__init__("nmspeller", __version__, protocol_cls=SpellingProtocol, converter_factory=converter)
        self._command_line = {"prefilter": prefilter}
        self.settings = EditorSettings(prefilter=prefilter)
        self.shut_down = False
        self.language = language_of_environment()
        self._language_of_editor = self.language
        self._initial_options: Any = None
        self._configured = asyncio.Event()
        self.speller_thread = SpellerThread(open_checker)
        self._open: dict[str, _Open] = {}
        self._ignored: set[tuple[str, str, str, str]] = set()
        self._warned: set[str] = set()

    # Notifications of the editor.

    def open(self, item: types.TextDocumentItem) -> None:
        """A document was opened."""
        self.close(item.uri)
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        document = OpenDocument(
            item.uri, item.language_id, item.version, item.text, types.PositionEncodingKind(encoding).value
        )
        self._open[item.uri] = _Open(document)
        self._start_check(item.uri, delay=0)

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        """A document was edited; changes of documents that are not open are ignored."""
        uri = params.text_document.uri
        if (state := self._open.get(uri)) is None:
            return
        if state.lost and all(map(_is_partial, params.content_changes)):
            return
        state.document = state.document.changed(params.content_changes, params.text_document.version)
        state.lost = False
        state.findings = []
        self._start_check(uri)

    def lose(self, uri: str) -> None:
        """A change could not be read: nothing is checked until the editor sends the whole text again."""
        if (state := self._open.get(uri)) is not None:
            _cancel(state)
            state.lost, state.findings = True, []
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
            sentence = _("A change to {file} cannot be read; close the file and open it again.").format(
                file=_name(uri)
            )
            self._warn(sentence)
            self._tell(state, "failed", sentence)

    def close(self, uri: str) -> None:
        """A document was closed: its diagnostics are cleared."""
        if (state := self._open.pop(uri, None)) is not None:
            _cancel(state)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def initialize(self, options: Any, locale: str | None = None) -> None:
        """The editor's language, and its initial settings; later settings override them."""
        self._language_of_editor = language_of_tag(locale) or language_of_environment()
        self._initial_options = options
        self._apply(None)

    def configure(self, options: Any) -> None:
        """The editor's current settings; documents that were opened before have waited for them."""
        self._apply(options)
        self._configured.set()

    def _apply(self, options: Any) -> None:
        sources = (self._command_line, self._initial_options, options)
        self.language = EditorSettings.read(*sources)[0].lang or self._language_of_editor
        speak(self.language)
        settings, warnings = EditorSettings.read(*sources)
        changed = settings != self.settings
        self.settings = settings
        if changed:
            self._warned.clear()
        for warning in warnings:
            self._warn(warning)
        if changed:
            self.check_all()

    def check_all(self) -> None:
        """Check every open document again, because something other than its text may have changed."""
        for uri in self._open:
            self._start_check(uri, delay=0)

    def stop(self) -> None:
        """Cancel all work; the thread still finishes its current batch."""
        self.shut_down = True
        for state in self._open.values():
            _cancel(state)
        self.speller_thread.stop()

    # Requests of the editor.

    async def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The actions at a range: quick fixes for the findings so far, fix-all once everything is checked."""
        state = self._open.get(params.text_document.uri)
        if state is None:
            return []
        only = params.context.only
        if only is not None and actions.wanted(actions.FIX_ALL, only):
            state.hurry.set()
            await self._checked(state, None)
        elif not actions.touching(state.document, state.findings, params.range):
            await self._checked(state, _SECONDS_A_REQUEST_WAITS)
        found: list[types.CodeAction] = []
        versioned = self._edits_are_versioned()
        if actions.wanted(types.CodeActionKind.QuickFix.value, only):
            found += actions.quick_fixes(state.document, state.findings, params.range, versioned=versioned)
        if actions.wanted(actions.FIX_ALL, only) and (found or only is not None):
            found += actions.fix_all(state.document, state.findings, versioned=versioned)
        return found

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Why there is a finding at a position, its alternatives and its confidence."""
        state = self._open.get(params.text_document.uri)
        if state is None:
            return None
        if hover.at(state.findings, state.document.offset(params.position)) is None:
            await self._checked(state, _SECONDS_A_REQUEST_WAITS)
        document = state.document
        finding = hover.at(state.findings, document.offset(params.position))
        if finding is None:
            return None
        # In a thread of its own: that of the speller may be at work for a while.
        explained = await asyncio.to_thread(hover.explanation, document, finding)
        contents = types.MarkupContent(types.MarkupKind.PlainText, explained)
        return types.Hover(contents, document.range(finding.start, finding.stop))

    async def add_word(self, uri: str, word: str) -> None:
        """Add a word to the user's file, and check every document again."""
        try:
            await self.speller_thread.run(self._place(uri).add_word, word)
        except InputError as error:
            self._warn(str(error))
        self.check_all()

    def ignore(self, uri: str, source: str, target: str, context: str) -> None:
        """Do not show this finding in this document again while the server runs."""
        self._ignored.add((uri, source, target, context))
        if (state := self._open.get(uri)) is not None:
            state.findings = self._not_ignored(uri, state.findings)
            self._start_check(uri, delay=0)

    # Checking.

    def _start_check(self, uri: str, delay: float | None = None) -> None:
        state = self._open[uri]
        if state.lost:
            return
        _cancel(state)
        state.hurry = asyncio.Event()
        seconds = self.settings.debounce / 1000 if delay is None else delay
        state.check = asyncio.get_running_loop().create_task(self._check(state, seconds))

    async def _check(self, state: _Open, delay: float) -> None:
        """Wait for a pause in typing, check what is new, and publish.

        Nothing else runs between the last `await` and publishing, and a newer text cancels this task: what is
        published always belongs to the current text.
        """
        await _wait(self._configured, _SECONDS_TO_WAIT_FOR_SETTINGS)
        self._configured.set()  # an editor that has not answered may never do so
        await _wait(state.hurry, delay)
        self._tell(state, "checking")
        try:
            if not self.settings.enable:
                self._publish(state, None)
                self._tell(state, "off")
                return
            place = self._place(state.document.uri)
            options, warnings = await self.speller_thread.run(place.options, state.document.language)
            for warning in warnings:
                self._warn(warning)
            if state.options is not None and options.reading != state.options.reading:
                # A new dictionary: the thread may still add results by the old options to the old one.
                state.known = {}
            state.options = options
            prose = None
            if not options.ignored:
                prose = await self.speller_thread.analyze(state.document.text, options)
            if prose is not None:
                await self._read_new(state, options, prose)
                state.known = {part: state.known[part] for part in prose.check.parts}
            self._publish(state, prose)
            self._tell(state, "checked")
        except InputError as error:
            self._fail(state, str(error))
        except Exception as bug:
            # An error in one document must not end the server.
            self._fail(
                state,
                _("The speller failed on this document ({error}: {details}); please report it.").format(
                    error=type(bug).__name__, details=bug
                ),
            )

    def _fail(self, state: _Open, sentence: str) -> None:
        self._publish(state, None)
        self._warn(sentence)
        self._tell(state, "failed", sentence)

    async def _read_new(self, state: _Open, options: Options, prose: Prose) -> None:
        """Read the parts that are new; for a long document, publish partial results."""
        known = state.known
        new = [*dict.fromkeys(part for part in prose.check.parts if part not in known)]
        done, shown = 0, monotonic()
        progress = WorkDoneProgress(self, _("Checking {file}").format(file=_name(state.document.uri)))
        try:
            for batch in batches(new):
                await self.speller_thread.read(batch, options, known)
                done += len(batch)
                if monotonic() - shown > _SECONDS_BETWEEN_PARTIAL_RESULTS:
                    self._publish(state, prose)
                    progress.report(done / len(new))
                    shown = monotonic()
        finally:
            progress.end()

    def _publish(self, state: _Open, prose: Prose | None) -> None:
        document = state.document
        findings, hints = place(document.text, prose, state.known) if prose else ([], [])
        state.findings = self._not_ignored(document.uri, findings)
        shown = [actions.diagnostic(document, finding) for finding in state.findings]
        shown += (actions.hint_diagnostic(document, hint) for hint in hints)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(document.uri, shown, document.version)
        )

    def _not_ignored(self, uri: str, findings: Iterable[EditorFinding]) -> list[EditorFinding]:
        return [finding for finding in findings if (uri, *finding.key) not in self._ignored]

    async def _checked(self, state: _Open, seconds: float | None) -> None:
        """Wait until the current document is checked; a change restarts the wait."""
        deadline = None if seconds is None else monotonic() + seconds
        while (task := state.check) is not None and not task.done():
            left = None if deadline is None else deadline - monotonic()
            if left is not None and left <= 0:
                return
            await asyncio.wait({task}, timeout=left)

    # Messages to the user, and helpers.

    def _warn(self, sentence: str) -> None:
        """Show a warning, once until the settings change: a failing check fails at every keystroke."""
        if sentence not in self._warned:
            self._warned.add(sentence)
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Warning, f"nmspeller: {sentence}")
            )

    def _tell(self, state: _Open, status: str, problem: str | None = None) -> None:
        """Tell an editor with the experimental capability `nmspellerStatus` how a check goes."""
        capabilities = self.client_capabilities.experimental
        if isinstance(capabilities, Mapping) and capabilities.get("nmspellerStatus"):
            told = {"uri": state.document.uri, "status": status, "problem": problem}
            self.protocol.notify(STATUS, told)

    def _place(self, uri: str) -> DocumentPlace:
        """The document's file, and the innermost workspace folder that contains it, or else the first."""
        path = _path(uri)
        opened = [folder.uri for folder in self.workspace.folders.values()] or [self.workspace.root_uri]
        roots = [root for root in map(_path, opened) if root is not None]
        holding = [root for root in roots if path is not None and root in path.parents]
        root = max(holding, key=lambda root: len(root.parts)) if holding else next(iter(roots), None)
        return DocumentPlace(path, root, self.settings)

    def _edits_are_versioned(self) -> bool:
        workspace = self.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace else None
        return bool(edit and edit.document_changes)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log messages that pygls cannot handle to standard error; users could not act on them."""
        print(f"nmspeller: {source.__name__}: {error}", file=sys.stderr)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Wait for the event, at most this long."""
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


def _is_partial(change: types.TextDocumentContentChangeEvent) -> bool:
    return isinstance(change, types.TextDocumentContentChangePartial)


def _cancel(state: _Open) -> None:
    if state.check is not None:
        state.check.cancel()


def _name(uri: str) -> str:
    """How people call a document."""
    return unquote(uri.rpartition("/")[2])


def _path(uri: str | None) -> Path | None:
    """The file of a URI, if there is one: an unsaved buffer (`untitled:`) has none."""
    if uri is None or not uri.startswith("file:"):
        return None
    path = to_fs_path(uri)
    return Path(path) if path else None
