"""The one thread that the speller runs in: loading a model or reading a batch never holds up a message."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import lru_cache, partial
from typing import Any, Protocol, TypeVar

from nmspeller.apps.documents.prose import passages
from nmspeller.apps.lsp.findings import Prose
from nmspeller.apps.lsp.options import Options
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.edits import Change
from nmspeller.runtime.reading import Part

_THREAD_NAME = "speller"

Result = TypeVar("Result")


class OpenChecker(Protocol):
    """Loads a model folder, None for the shipped model; `nmspeller.runtime.checker.open_checker` does."""

    def __call__(self, model: str | None, *, prefilter: bool) -> Checker: ...


class SpellerThread:
    """Runs functions one after another, and has the models that they need."""

    def __init__(self, open_checker: OpenChecker) -> None:
        self._loaded = lru_cache(maxsize=2)(open_checker)
        self._checker = lru_cache(maxsize=2)(self._make_checker)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=_THREAD_NAME)

    async def run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """The function's result; what it says is in the language of the caller."""
        in_this_language = partial(copy_context().run, function, *arguments)
        return await asyncio.get_running_loop().run_in_executor(self._executor, in_this_language)

    async def analyze(self, text: str, options: Options) -> Prose | None:
        """A document's prose and its check; only prose needs a model."""
        return await self.run(self._analyze, text, options)

    async def read(self, batch: list[Part], options: Options, known: dict[Part, tuple[Change, ...]]) -> None:
        """Add what the model changes in each part to `known`, even if the caller is cancelled meanwhile."""
        await self.run(self._read, batch, options, known)

    def stop(self) -> None:
        """Accept no more work; the current function still finishes."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def finish(self, seconds: float) -> bool:
        """Accept no more work, and return whether the current function finished in time."""
        self.stop()
        running = [thread for thread in threading.enumerate() if thread.name.startswith(_THREAD_NAME)]
        for thread in running:  # one at most
            thread.join(seconds)
        return not any(thread.is_alive() for thread in running)

    def _analyze(self, text: str, options: Options) -> Prose | None:
        found = passages(text, options.format)
        if not found:
            return None
        checker = self._checker_of(options)
        return Prose(found, checker.begin([passage.text for passage in found], words=options.words))

    def _read(self, batch: list[Part], options: Options, known: dict[Part, tuple[Change, ...]]) -> None:
        read = self._checker_of(options).read(batch, options.level)
        known.update(zip(batch, read, strict=True))

    def _checker_of(self, options: Options) -> Checker:
        return self._checker(options.model, options.prefilter, options.replacements, options.rules)

    def _make_checker(
        self,
        model: str | None,
        prefilter: bool,
        replacements: tuple[tuple[str, str], ...],
        rules: bool | tuple[str, ...],
    ) -> Checker:
        """From arguments that a cache can compare; other replacements or rules need no other model."""
        loaded = self._loaded(model, prefilter=prefilter)
        return Checker(loaded.model, replacements=dict(replacements), rules=rules)
