"""What both protocols share: a text goes in, a correction or an error comes out."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from fastapi import Request

from nmspeller.apps.http import errors, logs
from nmspeller.apps.http.clients import client_of
from nmspeller.apps.http.engine_queue import EngineFailed, EngineQueue, QueueFull
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.memory import return_freed_memory
from nmspeller.apps.http.metrics import Metrics
from nmspeller.apps.http.part_memory import Changes
from nmspeller.apps.http.processes import Processes
from nmspeller.apps.http.settings import Settings
from nmspeller.errors import InputError
from nmspeller.runtime.analysis import Check, CheckedPart
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.correction import Correction, Edit, Hint, Reason, clear_of
from nmspeller.runtime.reading import Part

_PROBE = "今天天气很好。"
_FRESH_SECONDS = 10.0
_HEALTH = "\n"  # no client can have this name

Answer = TypeVar("Answer")


class ClientGone(Exception):
    """The client has closed its connection."""


@dataclass(frozen=True)
class CheckOptions:
    """How the texts of a request are to be checked.

    replacements: pairs of a text and what always replaces it. rules: as `Speller` takes them.
    one_document: whether the texts are the passages of one document. reasons: those of the other edits that
    are wanted.
    """

    level: str | None = None
    words: tuple[str, ...] = ()
    replacements: tuple[tuple[str, str], ...] = ()
    rules: bool | tuple[str, ...] = ()
    one_document: bool = False
    reasons: frozenset[Reason] = frozenset(Reason)

    @property
    def needs_model(self) -> bool:
        """Whether an edit is wanted that the user's list does not make already."""
        return bool(self.reasons - {Reason.USER_LIST})


class Service:
    """One engine with its queue, limits and figures."""

    def __init__(self, settings: Settings, load_checker: Callable[[], Checker]) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.stopping = False
        self.in_hand: Counter[str] = Counter()  # requests of each client
        self._processes: Processes
        self._load_checker = load_checker
        self.checker = load_checker()
        self.queue: EngineQueue
        self._reload_asked = False
        self._reloading: asyncio.Task[None] | None = None

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
        self._processes = Processes("nmspeller.apps.http.uploads")
        self.stopping = False

    async def warm_up(self) -> None:
        """Check something, so that the first request finds the engine warm and its speed measured."""
        with suppress(EngineFailed, InputError):  # the health checks report it
            await self.queue.read([Part(5 * _PROBE, 0, 5 * len(_PROBE))] * 8, afresh=True)
        await asyncio.to_thread(self.checker.begin, [_PROBE], rules=True)

    def stop(self) -> None:
        """Finish what was admitted."""
        self.stopping = True
        self._processes.close()
        self.queue.close(self.settings.time_limit)

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
        client = self._admitted_client(request, options)
        asked = _while_connected(request, self._ask_for_all(texts, options, client))
        corrections = await self._in_time(asked, request.scope.get("nmspeller.deadline"))
        self._count(request, texts, [edit for correction in corrections for edit in correction.edits])
        return corrections

    async def check_in_parts(
        self, request: Request, texts: Sequence[str], options: CheckOptions
    ) -> AsyncIterator[CheckedPart]:
        """The parts of long documents, in order, as they are ready; each group of them has its own time."""
        self._measure(texts)
        client = self._admitted_client(request, options)

        async def ask(group: Sequence[Part], admitted: bool) -> list[Changes]:
            asked = self._ask(options.level, client, group, admitted)
            return await self._in_time(_while_connected(request, asked))

        async for part in self._in_turns(texts, options, ask):
            self._count(request, [texts[part.number][part.start : part.stop]], part.edits)
            yield part

    async def in_process(self, request: Request, document: bytes, **asked: Any) -> bytes:
        """What `uploads` answers; its process is killed where the client goes away or the time is over."""
        answer = _while_connected(request, self._processes.run(document, **asked))
        return await self._in_time(answer, request.scope.get("nmspeller.deadline"))

    def _admitted_client(self, request: Request, options: CheckOptions) -> str:
        client = client_of(request.scope)
        try:
            if options.needs_model:
                self.queue.raise_if_full(client)
        except QueueFull as full:
            raise errors.queue_full(full.retry_after) from None
        return client

    def _measure(self, texts: Sequence[str]) -> None:
        length = sum(map(len, texts))
        if length > self.settings.longest_text:
            raise errors.too_long(length, self.settings.longest_text)

    async def _ask_for_all(
        self, texts: Sequence[str], options: CheckOptions, client: str
    ) -> list[Correction]:
        edits: list[list[Edit]] = [[] for text in texts]
        hints: list[list[Hint]] = [[] for text in texts]
        async for part in self._in_turns(texts, options, partial(self._ask, options.level, client)):
            edits[part.number] += part.edits
            hints[part.number] += part.hints
        return [
            Correction.of(text, of_text, clear_of(of_text, doubts))
            for text, of_text, doubts in zip(texts, edits, hints, strict=True)
        ]

    async def _in_turns(
        self,
        texts: Sequence[str],
        options: CheckOptions,
        ask: Callable[[Sequence[Part], bool], Awaitable[list[Changes]]],
    ) -> AsyncIterator[CheckedPart]:
        """Ask for the parts of the texts, no more than a batch of the queue at a time.

        So a long text or list gets no more than its client's share. Only the first group can meet a full
        queue: the others are passed to `ask` as admitted.
        """
        checks = await asyncio.to_thread(self._begin, texts, options)
        parts = [part for _, check in checks for part in check.parts]
        numbered = [(first, check, number) for first, check in checks for number in range(len(check.parts))]
        for begin, group in _groups(parts, self.settings.batch_tokens):
            read: Sequence[Changes] = [()] * len(group)
            if options.needs_model:
                read = await ask(group, begin > 0)
            for (first, check, number), changes in zip(numbered[begin:], read, strict=False):
                checked = check.finish(number, changes)
                yield checked._replace(
                    number=first + checked.number,
                    edits=tuple(
                        edit for edit in checked.edits if edit.rule or edit.reason in options.reasons
                    ),
                )

    def _begin(self, texts: Sequence[str], options: CheckOptions) -> list[tuple[int, Check]]:
        """The checks of a request, each with the number of its first text."""
        try:
            analyzer = self.checker.analyzer(
                words=options.words, replacements=dict(options.replacements), rules=options.rules
            )
            if options.one_document:
                return [(0, analyzer.analyze(texts))]
            return [(number, analyzer.analyze([text])) for number, text in enumerate(texts)]
        except InputError as error:
            raise ApiError(422, str(error)) from None

    async def _ask(
        self, level: str | None, client: str, parts: Sequence[Part], admitted: bool
    ) -> list[Changes]:
        try:
            return await self.queue.read(parts, level, client=client, admitted=admitted)
        except QueueFull as full:
            raise errors.queue_full(full.retry_after) from None
        except InputError as error:
            raise ApiError(422, str(error)) from None
        except EngineFailed as failed:
            raise errors.engine_failed(str(failed)) from None

    async def _in_time(self, answer: Coroutine[Any, Any, Answer], deadline: float | None = None) -> Answer:
        """An answer before the deadline of its request, or within the whole time limit."""
        seconds = self.settings.time_limit
        if deadline is not None:
            seconds = max(0.0, deadline - asyncio.get_running_loop().time())
        try:
            return await asyncio.wait_for(answer, seconds)
        except asyncio.TimeoutError:
            raise errors.out_of_time(self.settings.time_limit) from None

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

    def ask_to_reload(self) -> None:
        """Read words and model again soon, and if asked while that is done, once more afterwards.

        Two at once would need the memory of both, and the older could come last.
        """
        self._reload_asked = True
        if self._reloading is None or self._reloading.done():
            self._reloading = asyncio.ensure_future(self._reload_while_asked())

    async def _reload_while_asked(self) -> None:
        while self._reload_asked:
            self._reload_asked = False
            await asyncio.to_thread(self._reload)

    def _reload(self) -> None:
        """Read words and model again; where they cannot be read, the old ones stay."""
        try:
            checker = self._load_checker()
        except InputError as error:
            logs.input_error("words not reloaded", error)
        except Exception as error:  # a bad file must not stop a running server
            logs.failure("words not reloaded", error)
        else:
            self.checker = checker
            self.queue.replace_checker(checker)
            return_freed_memory()
            logs.event("words reloaded", model=checker.model_hash)


def _groups(parts: Sequence[Part], tokens: int) -> list[tuple[int, list[Part]]]:
    """Neighbouring parts of at most `tokens` together (or one part), each with its first part's number."""
    groups: list[tuple[int, list[Part]]] = []
    size = 0
    for number, part in enumerate(parts):
        if not groups or size + len(part.text) > tokens:
            groups.append((number, []))
            size = 0
        groups[-1][1].append(part)
        size += len(part.text)
    return groups


async def _while_connected(request: Request, answer: Coroutine[Any, Any, Answer]) -> Answer:
    """Cancel the work when the client disconnects."""

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
