"""What both protocols share: a text goes in, a correction or a refusal comes out."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from fastapi import Request

from nmspeller.apps.http import logs, refusals
from nmspeller.apps.http.batching import Batcher, Checker, EngineFailed, Manner, QueueFull
from nmspeller.apps.http.metrics import Metrics
from nmspeller.apps.http.parts import Part, join_parts, split_into_parts
from nmspeller.apps.http.refusals import Refusal
from nmspeller.apps.http.settings import Settings
from nmspeller.errors import InputError
from nmspeller.runtime.correction import Correction

_PROBE = "今天天气很好。"
_FRESH_SECONDS = 10.0
_MOST_ASIDES = 4

Answer = TypeVar("Answer")


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class Service:
    """One engine with its queue, limits and figures."""

    def __init__(self, settings: Settings, load_checker: Callable[[], Checker]) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.stopping = False
        self._load_checker = load_checker
        self.checker = load_checker()
        self.batcher: Batcher

    def start(self) -> None:
        """Open the queue."""
        self._one_aside = asyncio.Semaphore(1)
        self._asides = 0
        self.batcher = Batcher(
            self.checker,
            batch_tokens=self.settings.batch_tokens,
            queue_tokens=self.settings.queue_tokens,
            longest_wait=self.settings.longest_wait,
            on_batch=self._count_batch,
            on_failure=self._report_failure,
        )
        self.stopping = False

    async def warm_up(self) -> None:
        """Check something, so that the first request finds the engine awake and its speed known."""
        with suppress(EngineFailed, InputError):  # then the health checks will say so
            await self.batcher.check([5 * _PROBE] * 8, Manner())

    def stop(self) -> None:
        """Finish what was taken in."""
        self.stopping = True
        self.batcher.close(self.settings.time_limit)

    def _count_batch(self, texts: int, tokens: int, seconds: float) -> None:
        self.metrics.batch_texts.observe(texts)
        self.metrics.batch_seconds.observe(seconds)
        self.metrics.waiting.set(self.batcher.waiting_tokens)

    def _report_failure(self, failure: BaseException) -> None:
        self.metrics.failures.inc()
        logs.failure("engine failed", failure)

    async def check(self, request: Request, texts: Sequence[str], manner: Manner) -> list[Correction]:
        """The corrections of one request's texts, in order; a Refusal where there can be none."""
        self._measure(texts)
        corrections = await self._in_time(_while_connected(request, self._ask_in_parts(texts, manner)))
        self._count(request, texts, corrections)
        return corrections

    def parts(self, text: str) -> list[Part]:
        """A text cut so that its parts, checked one by one, get the edits that they get in the whole."""
        return split_into_parts(text, self.checker.window)

    async def check_in_parts(
        self, request: Request, parts: Sequence[str], manner: Manner
    ) -> AsyncIterator[tuple[int, Correction]]:
        """The corrections of a long document's parts with their numbers, as they are ready.

        A document holds no more than a batch of the queue at a time, so it delays nobody, and it waits where
        others have filled the queue.
        """
        self._measure(parts)
        for first, group in _groups(parts, self.settings.batch_tokens):
            corrections = await self._in_time(
                _while_connected(request, self._ask(group, manner, patient=first > 0))
            )
            self._count(request, group, corrections)
            for number, correction in enumerate(corrections, start=first):
                yield number, correction

    def _measure(self, texts: Sequence[str]) -> None:
        length = sum(map(len, texts))
        if length > self.settings.max_text_length:
            raise refusals.too_long(length, self.settings.max_text_length)

    async def _ask_in_parts(self, texts: Sequence[str], manner: Manner) -> list[Correction]:
        """Like a streamed document, a long text or list holds no more than a batch of the queue at a time."""
        parts = [(number, *part) for number, text in enumerate(texts) for part in self.parts(text)]
        checked: list[list[tuple[int, Correction]]] = [[] for _ in texts]
        for first, group in _groups([part for _, _, part in parts], self.settings.batch_tokens):
            corrections = await self._ask(group, manner, patient=first > 0)
            for (number, start, _), correction in zip(parts[first:], corrections, strict=False):
                checked[number].append((start, correction))
        return [join_parts(text, corrections) for text, corrections in zip(texts, checked, strict=True)]

    async def _ask(self, texts: Sequence[str], manner: Manner, patient: bool = False) -> list[Correction]:
        while True:
            try:
                return await self.batcher.check(texts, manner)
            except QueueFull as full:
                if not patient:
                    raise refusals.queue_full(full.retry_after) from None
                await asyncio.sleep(0.1)
            except InputError as wrong:
                raise Refusal(422, str(wrong)) from None
            except EngineFailed as failed:
                raise refusals.engine_failed(str(failed)) from None

    async def _in_time(self, answer: Coroutine[Any, Any, Answer]) -> Answer:
        try:
            return await asyncio.wait_for(answer, self.settings.time_limit)
        except asyncio.TimeoutError:
            raise refusals.out_of_time(self.settings.time_limit) from None

    def _count(self, request: Request, texts: Sequence[str], corrections: Sequence[Correction]) -> None:
        characters = sum(map(len, texts))
        edits = [edit for correction in corrections for edit in correction.edits]
        self.metrics.characters.inc(characters)
        for edit in edits:
            self.metrics.edits.labels(edit.reason.name.lower()).inc()
        fields = request.scope.setdefault("nmspeller.log", {"characters": 0, "edits": 0})
        fields["characters"] += characters
        fields["edits"] += len(edits)
        if self.settings.log_text:
            fields["text"] = [*fields.get("text", []), *texts]

    async def aside(self, work: Callable[[], Answer]) -> Answer:
        """Do something heavy beside the queue; one such thing at a time leaves room for the others."""

        async def in_turn() -> Answer:
            async with self._one_aside:
                return await asyncio.to_thread(work)

        if self._asides >= _MOST_ASIDES:
            raise refusals.queue_full(2)
        self._asides += 1
        try:
            return await self._in_time(in_turn())
        finally:
            self._asides -= 1

    async def healthy(self) -> bool:
        """Whether the engine does what it should; asked with a probe where it has not just shown so."""
        batcher = self.batcher
        if not batcher.alive or batcher.busy_seconds > 2 * self.settings.time_limit:
            return False
        if batcher.busy_seconds > 0 or batcher.seconds_since_success < _FRESH_SECONDS:
            return True
        try:
            await asyncio.wait_for(
                batcher.check([_PROBE], Manner(), urgent=True), timeout=self.settings.time_limit
            )
        except (EngineFailed, InputError, asyncio.TimeoutError):
            return False
        return True

    def reload(self) -> None:
        """Read the word lists again; where they cannot be read, the old ones stay."""
        try:
            self.checker = self._load_checker()
        except Exception as wrong:  # whatever is wrong with a file must not stop a running server
            logs.failure("words not reloaded", wrong)
            return
        self.batcher.replace_checker(self.checker)
        logs.event("words reloaded")


def _groups(parts: Sequence[str], tokens: int) -> list[tuple[int, list[str]]]:
    """Neighbouring parts of at most `tokens` together (or one part), each with its first part's number."""
    groups: list[tuple[int, list[str]]] = []
    size = 0
    for number, part in enumerate(parts):
        if not groups or size + len(part) > tokens:
            groups.append((number, []))
            size = 0
        groups[-1][1].append(part)
        size += len(part)
    return groups


async def _while_connected(request: Request, answer: Coroutine[Any, Any, Answer]) -> Answer:
    """Give the work up when the client goes away, so that stale requests cost nothing."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working = asyncio.ensure_future(answer)
    watching = asyncio.ensure_future(gone())
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientGone
    finally:
        working.cancel()
        watching.cancel()
