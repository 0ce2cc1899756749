"""What both protocols share: a text goes in, a correction or an error comes out."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import anyio
from fastapi import Request

from nmspeller.apps.http import errors, logs
from nmspeller.apps.http.clients import client_of
from nmspeller.apps.http.engine_queue import EngineFailed, EngineQueue
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.memory import settle_memory
from nmspeller.apps.http.metrics import Metrics
from nmspeller.apps.http.part_memory import Changes
from nmspeller.apps.http.processes import DocumentProcesses
from nmspeller.apps.http.reloading import Reloading
from nmspeller.apps.http.settings import Settings
from nmspeller.apps.http.text_checks import CheckOptions, TextChecks
from nmspeller.apps.http.threads import Threads
from nmspeller.apps.http.waiting import while_wanted
from nmspeller.errors import InputError
from nmspeller.runtime.analysis import CheckedPart
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.correction import Correction, clear_of
from nmspeller.runtime.findings import Edit, Hint
from nmspeller.runtime.reading import Part

_PROBE = "今天天气很好。"
_WITH_ERRORS = "我门今天很高心，因为他己经买了平果。。"
_FRESH_SECONDS = 10.0
_HEALTH = "\n"  # no client can have this name

Answer = TypeVar("Answer")


class Service:
    """One engine with its queue, limits and figures."""

    def __init__(self, settings: Settings, load_checker: Callable[[], Checker]) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.stopping = False
        self.in_hand: Counter[str] = Counter()  # requests of each client
        self.threads = Threads()
        self._processes: DocumentProcesses
        self.checker = load_checker()
        self.queue: EngineQueue
        self.reloading = Reloading(load_checker, self._use)

    def start(self) -> None:
        """Open the queue."""
        self.queue = EngineQueue(
            self.checker,
            call_tokens=self.settings.batch_tokens,
            queue_tokens=self.settings.queue_tokens,
            longest_wait=self.settings.longest_wait,
            on_call=self._count_call,
            on_failure=self._report_failure,
        )
        self._processes = DocumentProcesses("nmspeller.apps.http.uploads")
        self.stopping = False

    async def warm_up(self) -> None:
        """Check something, so that the first request finds the engine warm and its speed measured.

        Rules read their tables when they first find something.
        """
        with suppress(EngineFailed, InputError):  # the health checks report it
            await self.queue.read([Part(5 * _PROBE, 0, 5 * len(_PROBE))] * 8, afresh=True)
        await asyncio.to_thread(self.checker.begin, [_WITH_ERRORS], rules=True)
        await asyncio.to_thread(settle_memory)

    def stop(self) -> None:
        """Finish what was admitted."""
        self.stopping = True
        self._processes.close()
        self.queue.close(self.settings.time_limit)

    def _use(self, checker: Checker) -> None:
        self.checker = checker
        self.queue.replace_checker(checker)

    def _count_call(self, texts: int, seconds: float) -> None:
        self.metrics.batch_texts.observe(texts)
        self.metrics.batch_seconds.observe(seconds)
        self.metrics.waiting.set(self.queue.waiting_tokens)

    def _report_failure(self, failure: BaseException) -> None:
        self.metrics.failures.inc()
        logs.failure("engine failed", failure)

    async def check(self, request: Request, texts: Sequence[str], options: CheckOptions) -> list[Correction]:
        """The corrections of one request's texts, in order; an ApiError where there are none."""
        self._measure(texts)
        asked = self._ask_for_all(texts, options, client_of(request.scope))
        corrections = await self._in_time(request, asked, request.scope.get("nmspeller.deadline"))
        self._count(request, texts, [edit for correction in corrections for edit in correction.edits])
        return corrections

    async def check_in_parts(
        self, request: Request, texts: Sequence[str], options: CheckOptions
    ) -> AsyncIterator[CheckedPart]:
        """The parts of long documents, in order, as they are ready; each group of them has its own time."""
        self._measure(texts)
        client = client_of(request.scope)

        async def ask(group: Sequence[Part], admitted: bool) -> list[Changes]:
            return await self._in_time(request, self._ask(options.level, client, group, admitted))

        checks = await self._in_time(request, self._analyzed(texts, options, client))
        async for part in self._in_turns(checks, options, ask):
            self._count(request, [texts[part.number][part.start : part.stop]], part.edits)
            yield part

    async def in_process(self, request: Request, document: bytes, **asked: Any) -> bytes:
        """What `uploads` answers; its process is killed where the client goes away or the time is over."""
        seconds = self.settings.time_limit
        answer = self._processes.run(client_of(request.scope), document, seconds=seconds, **asked)
        return await self._in_time(request, answer, request.scope.get("nmspeller.deadline"))

    def _measure(self, texts: Sequence[str]) -> None:
        length = sum(map(len, texts))
        if length > self.settings.longest_text:
            raise errors.too_long(length, self.settings.longest_text)

    async def _ask_for_all(
        self, texts: Sequence[str], options: CheckOptions, client: str
    ) -> list[Correction]:
        edits: list[list[Edit]] = [[] for text in texts]
        hints: list[list[Hint]] = [[] for text in texts]
        checks = await self._analyzed(texts, options, client)
        async for part in self._in_turns(checks, options, partial(self._ask, options.level, client)):
            edits[part.number] += part.edits
            hints[part.number] += part.hints
        return [
            Correction.of(text, of_text, clear_of(of_text, doubts))
            for text, of_text, doubts in zip(texts, edits, hints, strict=True)
        ]

    async def _analyzed(self, texts: Sequence[str], options: CheckOptions, client: str) -> TextChecks:
        """The checks of the texts; an ApiError where too much of the client waits by now."""

        def analyze() -> TextChecks:
            self.queue.raise_if_full(client)
            return TextChecks(self.checker, texts, options)

        try:
            size = options.size + sum(map(len, texts)) + len(texts)
            return await self.threads.unless_short(client, size, analyze)
        except InputError as error:
            raise ApiError(422, str(error)) from None

    async def _in_turns(
        self,
        checks: TextChecks,
        options: CheckOptions,
        ask: Callable[[Sequence[Part], bool], Awaitable[list[Changes]]],
    ) -> AsyncIterator[CheckedPart]:
        """Ask for the parts of the texts, no more than a batch of the queue at a time.

        So a long text or list gets no more than its client's share. Only the first group can meet a full
        queue: the others are passed to `ask` as admitted.
        """
        for group in checks.groups(self.settings.batch_tokens):
            read: Sequence[Changes] = [()] * len(group)
            if options.needs_model:
                read = await ask([checks.part(number) for number in group], group.start > 0)
            for number, changes in zip(group, read, strict=True):
                yield checks.finish(number, changes)

    async def _ask(
        self, level: str | None, client: str, parts: Sequence[Part], admitted: bool
    ) -> list[Changes]:
        try:
            return await self.queue.read(parts, level, client=client, admitted=admitted)
        except InputError as error:
            raise ApiError(422, str(error)) from None
        except EngineFailed as failed:
            raise errors.engine_failed(str(failed)) from None

    async def _in_time(
        self, request: Request, answer: Coroutine[Any, Any, Answer], deadline: float | None = None
    ) -> Answer:
        """An answer before the deadline of its request, or within the whole time limit."""
        limit = self.settings.time_limit
        try:
            return await while_wanted(request, answer, deadline or anyio.current_time() + limit)
        except TimeoutError:
            raise errors.out_of_time(limit) from None

    def _count(self, request: Request, texts: Sequence[str], edits: Sequence[Edit]) -> None:
        characters = sum(map(len, texts))
        self.metrics.characters.inc(characters)
        for edit in edits:
            self.metrics.edits.labels(edit.reason.name.lower()).inc()
        fields = request.scope.setdefault("nmspeller.log", {"characters": 0, "edits": 0})
        fields["characters"] += characters
        fields["edits"] += len(edits)
        if self.settings.log_text:
            fields["text"] = [*fields.get("text", []), *texts]

    async def healthy(self) -> bool:
        """Whether the engine does what it should; asked with a probe where it has not just shown so."""
        queue = self.queue
        if not queue.alive or queue.busy_seconds > 2 * self.settings.time_limit:
            return False
        is_working = queue.busy_seconds > 0 and not queue.is_failing
        if is_working or queue.seconds_since_success < _FRESH_SECONDS:
            return True
        probe = queue.read([Part(_PROBE, 0, len(_PROBE))], client=_HEALTH, admitted=True, afresh=True)
        try:
            await asyncio.wait_for(probe, timeout=self.settings.time_limit)
        except (EngineFailed, InputError, asyncio.TimeoutError):
            return False
        return True
