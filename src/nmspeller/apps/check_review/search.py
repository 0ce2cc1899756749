"""The findings of a document, searched for in the background while the user decides on the first ones."""

import queue
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context

from nmspeller.apps.documents import document as documents
from nmspeller.apps.documents.document import Document
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.correction import Correction
from nmspeller.runtime.findings import Edit


class _Stopped(Exception):
    """The user has quit."""


class Search:
    """Checks a document in a thread; the speller is loaded there too, since that takes a while."""

    def __init__(self, load: Callable[[], Checker], document: Document, level: str | None) -> None:
        self._load, self._document, self._level = load, document, level
        self._found: queue.SimpleQueue[Sequence[Edit]] = queue.SimpleQueue()
        self._wrong: BaseException | None = None
        self._stopping = False
        self._characters = 0
        self.checked: Correction | None = None  # at the end
        self._total = sum(len(passage.text) for passage in document.passages)
        # The thread speaks the user's language, which is set in this context.
        self._thread = threading.Thread(target=copy_context().run, args=(self._run,), daemon=True)
        self._thread.start()

    @property
    def share(self) -> float:
        """How much of the document is checked, from 0 to 1."""
        return self._characters / self._total if self._total else 1.0

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def new(self) -> list[Sequence[Edit]]:
        """The edits of each batch that is finished since the last call.

        Raises:
            InputError: the speller cannot be used.
        """
        batches = []
        while not self._found.empty():
            batches.append(self._found.get())
        if not batches and self._wrong is not None:
            raise self._wrong
        return batches

    def stop(self) -> None:
        """End with the batch that is being checked."""
        self._stopping = True

    def _run(self) -> None:
        try:
            if self._total:
                self.checked = documents.check(
                    self._load(), self._document, level=self._level, advance=self._advance
                )
        except _Stopped:
            pass
        except BaseException as error:  # raised again for the user
            self._wrong = error

    def _advance(self, characters: int, edits: Sequence[Edit]) -> None:
        if self._stopping:
            raise _Stopped
        if edits:
            self._found.put(edits)
        self._characters += characters
