"""A progress bar that appears only on a terminal, and only if the work takes long."""

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_DELAY = 0.3  # seconds of work before the bar appears


class SlowProgress:
    """Counts towards `total`; drawn on standard error, so that pipes are not affected, and then removed."""

    def __init__(self, total: float) -> None:
        self._total = total
        self._done = 0.0
        self._name = ""
        self._began: float | None = None
        self._bar: Progress | None = None
        self._wanted = sys.stderr.isatty() and total > 0
        self._timer = threading.Timer(_DELAY, self._show)
        self._timer.daemon = True
        self._lock = threading.Lock()

    def __enter__(self) -> "SlowProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._wanted = False
        self._timer.cancel()
        self.pause()

    def begin(self, name: str) -> None:
        """Work on the file `name` begins; the bar appears if it takes long, even before the first advance."""
        self._name = name
        if self._began is None:
            self._began = time.monotonic()
            if self._wanted:
                self._timer.start()

    def advance(self, amount: float, name: str) -> None:
        """Add an amount of finished work; `name` is the current file."""
        self._done += amount
        self.begin(name)
        if self._done < self._total and self._is_slow():
            self._show()

    def pause(self) -> None:
        """Hide the bar, so that something else can be printed; the next advance shows it again."""
        self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()

    def _show(self) -> None:
        with self._lock:
            if not self._wanted:
                return
            if self._bar is None:
                self._bar = self._make_bar()
            self._bar.update(self._task, completed=self._done, description=self._name)
            self._bar.start()

    def _is_slow(self) -> bool:
        return self._began is not None and time.monotonic() - self._began >= _DELAY

    def _make_bar(self) -> "Progress":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = bar.add_task("", total=self._total)
        return bar
