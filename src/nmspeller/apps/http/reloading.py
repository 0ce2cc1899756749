"""Words and model are read again while the server goes on."""

import asyncio
from collections.abc import Callable

from nmspeller.apps.http import logs
from nmspeller.apps.http.memory import settle_memory
from nmspeller.errors import InputError
from nmspeller.runtime.checker import Checker


class Reloading:
    """Loads a checker each time it is asked to, and gives it to `use`; where it cannot, the old one stays."""

    def __init__(self, load: Callable[[], Checker], use: Callable[[Checker], None]) -> None:
        self._load = load
        self._use = use
        self._asked = False
        self._running: asyncio.Task[None] | None = None

    def ask(self) -> "asyncio.Task[None]":
        """Load soon, and if asked while that is done, once more afterwards.

        Two at once would need the memory of both, and the older could come last.
        """
        self._asked = True
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(self._run_while_asked())
        return self._running

    async def _run_while_asked(self) -> None:
        while self._asked:
            self._asked = False
            await asyncio.to_thread(self._run)

    def _run(self) -> None:
        try:
            checker = self._load()
        except InputError as error:
            logs.input_error("words not reloaded", error)
        except Exception as error:  # a bad file must not stop a running server
            logs.failure("words not reloaded", error)
        else:
            self._use(checker)
            settle_memory()
            logs.event("words reloaded", model=checker.model_hash)
