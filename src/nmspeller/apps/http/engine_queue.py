"""The queue before the engine: clients take turns, and what waits is bounded.

The client that has had least goes next. Two threads call the engine: the one takes from everybody, the other
is an express lane for a short request of a client that has nothing else here; the processor's scheduler,
which can interrupt a long call, then gives both their turn. (docs/serving.md has what this is worth.) A
request that would wait too long gets an error at once.
"""

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from nmspeller.apps.http import errors
from nmspeller.apps.http.part_memory import Changes, PartMemory
from nmspeller.errors import InputError
from nmspeller.messages import N_
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.reading import Part

SHORT_TOKENS = 256
"""A request of at most this cost is short; it is also the least that a call may have."""
# Even an empty part takes memory and time in the queue.
_COST_OF_A_PART = 8
# Those who come after a call wait for it, so it is small on a slow machine.
_LONGEST_CALL_SECONDS = 0.5
_LONGEST_RETRY_AFTER = 60


class EngineFailed(Exception):
    """The engine could not check a text, or is gone; the sentence is translated where it is shown."""


@dataclass(eq=False)
class _Call:
    """One call of the engine. `answer` belongs to the event loop and is only touched there."""

    parts: Sequence[Part]
    level: str
    client: str
    cost: int
    is_short: bool  # the whole request
    answer: "asyncio.Future[list[Changes]]"

    def settle(self, outcome: "list[Changes] | Exception") -> None:
        def deliver() -> None:
            if self.answer.done():
                return
            if isinstance(outcome, Exception):
                self.answer.set_exception(outcome)
            else:
                self.answer.set_result(outcome)

        with suppress(RuntimeError):  # the loop is closed, nothing can be delivered
            self.answer.get_loop().call_soon_threadsafe(deliver)


class EngineQueue:
    """A bounded queue of parts before one engine. Its methods are called from the event loop."""

    def __init__(
        self,
        checker: Checker,
        *,
        call_tokens: int,
        queue_tokens: int,
        longest_wait: float,
        on_call: Callable[[int, float], None] = lambda texts, seconds: None,
        on_failure: Callable[[BaseException], None] = lambda failure: None,
    ) -> None:
        self._checker = checker
        self._memory = PartMemory()
        self._call_tokens = call_tokens
        self._queue_tokens = queue_tokens
        self._longest_wait = longest_wait
        self._on_call = on_call
        self._on_failure = on_failure
        self._jobs: dict[str, deque[_Call]] = {}
        self._in_hand: list[str] = []  # the clients whose calls the lanes make
        self._served: dict[str, float] = {}  # tokens of the clients that wait, and of those ahead of them
        self._tokens_per_second = 4_000.0  # a guess until the first calls are done
        self._last_success: float | None = None
        self.is_failing = False  # whether the last call did
        self._closing = False
        self._changed = threading.Condition()
        self._busy_since: dict[bool, float] = {}  # by whether the lane is the express one
        self._lanes = [
            threading.Thread(target=self._run, args=(express,), name=name, daemon=True)
            for express, name in ((False, "engine"), (True, "engine-express"))
        ]
        for lane in self._lanes:
            lane.start()

    @property
    def waiting_tokens(self) -> int:
        """How much waits, the calls in hand not counted."""
        with self._changed:
            return sum(map(_cost, self._jobs.values()))

    @property
    def alive(self) -> bool:
        """Whether there are still threads to answer."""
        return all(lane.is_alive() for lane in self._lanes)

    @property
    def busy_seconds(self) -> float:
        """How long the longest of the calls in hand has taken so far."""
        now = time.monotonic()
        return max((now - since for since in tuple(self._busy_since.values())), default=0.0)

    @property
    def seconds_since_success(self) -> float:
        """Since when the engine has not succeeded; infinity where it never did, or failed last."""
        at = self._last_success
        return float("inf") if at is None else time.monotonic() - at

    def replace_checker(self, checker: Checker) -> None:
        """Use another engine from the next call on."""
        with self._changed:
            self._checker, self._memory = checker, PartMemory()

    def raise_if_full(self, client: str) -> None:
        """Refuse a request before it is read, where its client could not even add a single character."""
        with self._changed:
            self._raise_if_the_wait_is_too_long(client, 0)

    async def read(
        self,
        parts: Sequence[Part],
        level: str | None = None,
        *,
        client: str = "",
        admitted: bool = False,
        afresh: bool = False,
    ) -> list[Changes]:
        """Read parts when it is their client's turn; those that it sent before only if asked to, `afresh`.

        They are refused at once where they would wait too long, but not where their request was `admitted`
        before.
        """
        loop = asyncio.get_running_loop()
        level = level or self._checker.level
        known: Sequence[Changes | None] = [None] * len(parts)
        if not afresh:
            known = self._memory.recall(client, level, parts)
        unread = list(
            dict.fromkeys(part for part, changes in zip(parts, known, strict=True) if changes is None)
        )
        with self._changed:
            if self._closing or not self.alive:
                raise EngineFailed(N_("The engine has stopped."))
            calls = list(self._split(unread))
            is_short = not admitted and sum(cost for _, cost in calls) <= SHORT_TOKENS
            jobs = [_Call(call, level, client, cost, is_short, loop.create_future()) for call, cost in calls]
            if jobs and not admitted:
                self._raise_if_the_wait_is_too_long(client, _cost(jobs))
            if jobs:
                self._begin_where_the_others_are(client)
                self._jobs.setdefault(client, deque()).extend(jobs)
                self._changed.notify_all()
        try:
            answers = await asyncio.gather(*(job.answer for job in jobs))
        finally:
            # Where the client went away or the time is over, what has not begun need not begin.
            for job in jobs:
                job.answer.cancel()
        read = dict(zip(unread, chain.from_iterable(answers), strict=True))
        return [
            read[part] if changes is None else changes for part, changes in zip(parts, known, strict=True)
        ]

    def close(self, timeout: float) -> None:
        """Finish what was admitted, then stop; what is not done within `timeout` seconds is left."""
        end = time.monotonic() + timeout
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for lane in self._lanes:
            lane.join(max(0.0, end - time.monotonic()))

    def _split(self, parts: Sequence[Part]) -> Iterator[tuple[list[Part], int]]:
        """What calls read that are short enough for those who wait, with the cost of each."""
        fast_enough = max(SHORT_TOKENS, self._tokens_per_second * _LONGEST_CALL_SECONDS)
        budget = min(self._call_tokens, fast_enough)
        call: list[Part] = []
        cost = 0
        for part in parts:
            if call and cost + len(part.text) + _COST_OF_A_PART > budget:
                yield call, cost
                call, cost = [], 0
            call.append(part)
            cost += len(part.text) + _COST_OF_A_PART
        if call:
            yield call, cost

    def _begin_where_the_others_are(self, client: str) -> None:
        """A client that was away is no creditor, but one that has had more than the others waits for them."""
        least = min((self._served[other] for other in self._jobs), default=math.inf)
        self._served = {
            other: had for other, had in self._served.items() if had > least or other in self._jobs
        }
        self._served.setdefault(client, 0 if least == math.inf else least)

    def _raise_if_the_wait_is_too_long(self, client: str, cost: int) -> None:
        waiting = {other: _cost(jobs) for other, jobs in self._jobs.items()}
        own = waiting.pop(client, 0)
        seconds = (
            own + sum(min(tokens, own + cost) for tokens in waiting.values())
        ) / self._tokens_per_second
        over_its_share = own > 0 and own + cost > self._queue_tokens / (len(waiting) + 1)
        if seconds > self._longest_wait or over_its_share:
            raise errors.queue_full(min(_LONGEST_RETRY_AFTER, max(1, math.ceil(seconds))))

    def _run(self, express: bool) -> None:
        job: _Call | None = None
        try:
            while job := self._next(express):
                self._call(job)
                with self._changed:
                    del self._busy_since[express]
                    self._in_hand.remove(job.client)
                    self._changed.notify_all()
        except BaseException as failure:  # even an interpreter error must reach those who wait
            self._on_failure(failure)
            self._last_success = None
            with self._changed:
                self._closing = True
                abandoned = [job for jobs in self._jobs.values() for job in jobs]
                self._jobs.clear()
                self._changed.notify_all()
            for one in [*abandoned, *([job] if job else [])]:
                one.settle(EngineFailed(N_("The engine has stopped.")))

    def _next(self, express: bool) -> _Call | None:
        """Wait for a job and take it; None when all is done."""
        with self._changed:
            while True:
                job = self._take(express)
                if job is not None:
                    self._busy_since[express] = time.monotonic()
                    self._in_hand.append(job.client)
                    return job
                if self._closing and not self._jobs:
                    return None
                self._changed.wait()

    def _take(self, express: bool) -> _Call | None:
        clients = [client for client in self._jobs if not express or self._may_use_express_lane(client)]
        while clients:
            client = min(clients, key=self._served.__getitem__)
            jobs = self._jobs[client]
            job = jobs.popleft()
            if not jobs:
                del self._jobs[client]
                clients.remove(client)
            if not job.answer.cancelled():
                self._served[client] += job.cost
                return job
        return None

    def _may_use_express_lane(self, client: str) -> bool:
        jobs = self._jobs[client]
        return len(jobs) == 1 and jobs[0].is_short and client not in self._in_hand

    def _call(self, job: _Call) -> None:
        began = time.monotonic()
        with self._changed:
            checker, memory = self._checker, self._memory
        try:
            answers = checker.read(job.parts, job.level)
            if len(answers) != len(job.parts):
                raise EngineFailed(f"The engine gave {len(answers)} answers to {len(job.parts)} parts.")
        except InputError as error:
            job.settle(error)
        except Exception as failure:
            self._last_success = None
            self.is_failing = True
            self._on_failure(failure)
            job.settle(EngineFailed(N_("The engine failed on this text.")))
        else:
            self._last_success = time.monotonic()
            self.is_failing = False
            # Also where nobody waits any more: a writer goes on, and the whole text is asked for again.
            memory.keep(job.client, job.level, job.parts, answers)
            job.settle(list(answers))
        seconds = max(time.monotonic() - began, 1e-6)
        self._measure_speed(job.cost, seconds)
        self._on_call(len(job.parts), seconds)

    def _measure_speed(self, tokens: int, seconds: float) -> None:
        """A short call is slow for its size; unless it took long, it gives only a lower bound of the speed.

        A decrease counts for more than an increase: to admit too much is worse than to admit too little.
        """
        with self._changed:
            difference = tokens / seconds - self._tokens_per_second
            if difference > 0:
                self._tokens_per_second += 0.3 * difference
            elif tokens >= SHORT_TOKENS or seconds > _LONGEST_CALL_SECONDS:
                self._tokens_per_second += 0.7 * difference


def _cost(jobs: Sequence[_Call] | deque[_Call]) -> int:
    return sum(job.cost for job in jobs)
