"""What both protocols share: a text goes in, a correction or an error comes out."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

from fastapi import Request

from nmspeller.apps.http import errors, logs
from nmspeller.apps.http.clients import client_of
from nmspeller.apps.http.engine_queue import CheckOptions, EngineFailed, EngineQueue, QueueFull
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.memory import return_freed_memory
from nmspeller.apps.http.metrics import Metrics
from nmspeller.apps.http.processes import Processes
from nmspeller.apps.http.settings import Settings
from nmspeller.errors import InputError
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.correction import Correction, Edit, Hint, Reason, apply_edits
from nmspeller.runtime.parts import split_into_parts
from nmspeller.runtime.rule_edits import matches_between, with_matches
from nmspeller.runtime.rules import RuleMatch
from nmspeller.text.script import Script, detect

_PROBE = "今天天气很好。"
_FRESH_SECONDS = 10.0
_HEALTH = "\n"  # no client can have this name

Answer = TypeVar("Answer")


class ClientGone(Exception):
    """The client has closed its connection."""


class WantedRules(NamedTuple):
    """The rules beside the model, by their ids; where the texts are one document, they read them together.

    reasons: those of the model's edits that are wanted; others do not stand in the way of a rule. Where there
    are none, the model is not asked.
    """

    ids: Sequence[str] = ()
    one_document: bool = False
    reasons: frozenset[Reason] = frozenset(Reason)


_NO_RULES = WantedRules()


class CheckedPart(NamedTuple):
    """texts[number][start:stop] has been checked; the offsets are those in the whole text."""

    number: int
    start: int
    stop: int
    edits: tuple[Edit, ...]
    hints: tuple[Hint, ...] = ()


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
            await self.queue.check([5 * _PROBE] * 8, CheckOptions())
        await asyncio.to_thread(self.checker.rule_matches, [_PROBE], rules=True)

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

    async def check(
        self,
        request: Request,
        texts: Sequence[str],
        options: CheckOptions,
        rules: WantedRules = _NO_RULES,
    ) -> list[Correction]:
        """The corrections of one request's texts, in order; an ApiError where there are none."""
        self._measure(texts)
        options = _in_the_script_of(texts, options)
        client = client_of(request.scope)
        asked = _while_connected(request, self._ask_for_all(texts, options, rules, client))
        corrections = await self._in_time(asked, request.scope.get("nmspeller.deadline"))
        self._count(request, texts, [edit for correction in corrections for edit in correction.edits])
        return corrections

    async def check_in_parts(
        self,
        request: Request,
        texts: Sequence[str],
        options: CheckOptions,
        rules: WantedRules = _NO_RULES,
    ) -> AsyncIterator[CheckedPart]:
        """The parts of long documents, in order, as they are ready; each group of them has its own time."""
        self._measure(texts)
        options = _in_the_script_of(texts, options)
        client = client_of(request.scope)

        async def ask(group: Sequence[str], admitted: bool) -> list[Correction]:
            return await self._in_time(_while_connected(request, self._ask(options, client, group, admitted)))

        async for part in self._in_turns(texts, options, rules, ask):
            self._count(request, [texts[part.number][part.start : part.stop]], part.edits)
            yield part

    async def in_process(self, request: Request, document: bytes, **asked: Any) -> bytes:
        """What `uploads` answers; its process is killed where the client goes away or the time is over."""
        answer = _while_connected(request, self._processes.run(document, **asked))
        return await self._in_time(answer, request.scope.get("nmspeller.deadline"))

    def _measure(self, texts: Sequence[str]) -> None:
        length = sum(map(len, texts))
        if length > self.settings.max_text_length:
            raise errors.too_long(length, self.settings.max_text_length)

    async def _ask_for_all(
        self, texts: Sequence[str], options: CheckOptions, rules: WantedRules, client: str
    ) -> list[Correction]:
        edits: list[list[Edit]] = [[] for text in texts]
        hints: list[list[Hint]] = [[] for text in texts]
        async for part in self._in_turns(texts, options, rules, partial(self._ask, options, client)):
            edits[part.number] += part.edits
            hints[part.number] += part.hints
        return [
            Correction(text, apply_edits(text, of_text), tuple(of_text), tuple(doubts))
            for text, of_text, doubts in zip(texts, edits, hints, strict=True)
        ]

    async def _in_turns(
        self,
        texts: Sequence[str],
        options: CheckOptions,
        rules: WantedRules,
        ask: Callable[[Sequence[str], bool], Awaitable[list[Correction]]],
    ) -> AsyncIterator[CheckedPart]:
        """Ask for the parts of the texts, no more than a batch of the queue at a time.

        So a long text or list gets no more than its client's share. Only the first group can meet a full
        queue: the others are passed to `ask` as admitted.
        """
        parts = await asyncio.to_thread(
            lambda: [
                (number, part)
                for number, text in enumerate(texts)
                for part in split_into_parts(text, self.checker.window)
            ]
        )
        matches: list[list[RuleMatch]] = []
        done = [0] * len(texts)
        for first, group in _groups([part.text for _, part in parts], self.settings.batch_tokens):
            if rules.reasons:
                corrections = await ask(group, first > 0)
            else:
                corrections = [Correction(text, text, ()) for text in group]
            matches = matches or await self._rule_matches(texts, options, rules)
            for (number, part), correction in zip(parts[first:], corrections, strict=False):
                begin = max(part.keep_start, done[number])
                of_the_model = part.own_edits(correction.edits, done[number])
                edits, hints = with_matches(
                    [edit for edit in of_the_model if edit.reason in rules.reasons],
                    matches_between(matches[number], begin, part.keep_stop),
                )
                if edits:
                    done[number] = edits[-1].offset + edits[-1].length
                yield CheckedPart(number, part.keep_start, part.keep_stop, tuple(edits), hints)

    async def _rule_matches(
        self, texts: Sequence[str], options: CheckOptions, rules: WantedRules
    ) -> list[list[RuleMatch]]:
        """What the rules find in each text; they read a document as a whole."""
        if not rules.ids:
            return [[] for text in texts]
        find = partial(self.checker.rule_matches, words=options.words or None, rules=rules.ids)
        if rules.one_document:
            return await asyncio.to_thread(find, texts)
        return await asyncio.to_thread(lambda: [find([text])[0] for text in texts])

    async def _ask(
        self, options: CheckOptions, client: str, texts: Sequence[str], admitted: bool
    ) -> list[Correction]:
        try:
            return await self.queue.check(texts, options, client=client, admitted=admitted)
        except QueueFull as full:
            raise errors.queue_full(full.retry_after) from None
        except InputError as wrong:
            raise ApiError(422, str(wrong)) from None
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
        probe = queue.check([_PROBE], CheckOptions(), client=_HEALTH, admitted=True)
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
        except InputError as wrong:
            logs.input_error("words not reloaded", wrong)
        except Exception as wrong:  # a bad file must not stop a running server
            logs.failure("words not reloaded", wrong)
        else:
            self.checker = checker
            self.queue.replace_checker(checker)
            return_freed_memory()
            logs.event("words reloaded", model=checker.model_hash)


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


def _in_the_script_of(texts: Sequence[str], options: CheckOptions) -> CheckOptions:
    """The options for the parts of one text, which has a script; several texts may have several."""
    if len(texts) == 1 and detect(texts[0]) is Script.TRADITIONAL:
        return replace(options, document_script=Script.TRADITIONAL)
    return options


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
