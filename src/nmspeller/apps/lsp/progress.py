"""How far a long check is, in the editor's status line."""

from concurrent.futures import Future
from typing import Any
from uuid import uuid4

from lsprotocol import types
from pygls.lsp.server import LanguageServer


class WorkDoneProgress:
    """The progress of one check; shown once the editor agrees to show it, and never waited for."""

    def __init__(self, server: LanguageServer, title: str) -> None:
        self._server, self._title = server, title
        self._token = str(uuid4())
        self._asked: Future[Any] | None = None
        self._shown = False

    def report(self, share: float) -> None:
        """Show which share of the text, from 0 to 1, is checked."""
        window = self._server.client_capabilities.window
        if window is None or not window.work_done_progress:
            return
        if self._asked is None:
            self._asked = self._server.work_done_progress.create(self._token)
        elif self._asked.done() and self._asked.exception() is None:
            self._show(int(100 * share))

    def end(self) -> None:
        """Show it no more."""
        if self._shown:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())

    def _show(self, percentage: int) -> None:
        if self._shown:
            report = types.WorkDoneProgressReport(percentage=percentage)
            self._server.work_done_progress.report(self._token, report)
        else:
            self._shown = True
            begin = types.WorkDoneProgressBegin(self._title, percentage=percentage)
            self._server.work_done_progress.begin(self._token, begin)
