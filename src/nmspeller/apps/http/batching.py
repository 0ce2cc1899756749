"""Parts of many requests, read together.

Two threads call the engine. The one takes what waits, up to a budget of tokens, and checks it in one call;
meanwhile the next batch gathers, so that batches grow with the load. The other is an express lane for the
short requests of clients that have nothing else in the queue: the processor's scheduler, which can interrupt
a long batch, then gives both their turn. What waits is bounded: a request that would wait too long gets an
error at once, before its client has given up.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from nmspeller.apps.http.fair_queue import SHORT_TOKENS, FairQueue
from nmspeller.errors import InputError
from nmspeller.messages import N_
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.edits import Change
from nmspeller.runtime.reading import Part

# Even an empty part takes memory and time in the queue.
_COST_OF_A_PART = 8
# Those who come after a batch wait for it, so it is small on a slow machine.
_LONGEST_BATCH_SECONDS = 0.5
# A smaller batch is slow for its size, and not a measure of the engine's speed.
_MEASURABLE_TOKENS = 256


class EngineFailed(Exception):
    """The engine could not check a text, or is gone; the sentence is translated where it is shown."""


Changes = tuple[Change, ...]


@dataclass
class _Job:
    """One part in the queue; only parts of one level can share a call.

    `answer` belongs to the event loop and is only touched there.
    """

    part: Part
    level: str | None
    client: str
    loop: asyncio.AbstractEventLoop
    answer: "asyncio.Future[Changes]"
    cost: int = field(init=False)

    def __post_init__(self) -> None:
        self.cost = len(self.part.text) + _COST_OF_A_PART

    @property
    def given_up(self) -> bool:
        return self.answer.cancelled()

    def settle(self, outcome: "Changes | Exception") -> None:
        def deliver() -> None:
            if self.answer.done():
                return
            if isinstance(outcome, Exception):
                self.answer.set_exception(outcome)
            else:
                self.answer.set_result(outcome)

        with suppress(RuntimeError):  # the loop is closed, nothing can be delivered
            self.loop.call_soon_threadsafe(deliver)


class Batcher:
    """A bounded queue of parts before one engine. Its methods are called from the event loop."""

    def __init__(
        self,
        checker: Checker,
        *,
        batch_tokens: int,
        queue_tokens: int,
        longest_wait: float,
        on_batch: Callable[[int, int, float], None] = lambda texts, tokens, seconds: None,
        on_failure: Callable[[BaseException], None] = lambda failure: None,
    ) -> None:
        self._checker = checker
        self._batch_tokens = batch_tokens
        self._on_batch = on_batch
        self._on_failure = on_failure
        self._queue: FairQueue[_Job] = FairQueue(most_tokens=queue_tokens, longest_wait=longest_wait)
        self._tokens_per_second = 4_000.0  # a guess until the first batches are done
        self._last_call_succeeded_at: float | None = None
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
        """How much waits, the batches in hand not counted."""
        with self._changed:
            return self._queue.waiting_tokens

    @property
    def alive(self) -> bool:
        """Whether there are still threads to answer."""
        return all(lane.is_alive() for lane in self._lanes)

    @property
    def busy_seconds(self) -> float:
        """How long the longest of the batches in hand has taken so far."""
        now = time.monotonic()
        return max((now - since for since in tuple(self._busy_since.values())), default=0.0)

    @property
    def seconds_since_success(self) -> float:
        """Since when the engine has not succeeded; infinity where it never did, or failed last."""
        at = self._last_call_succeeded_at
        return float("inf") if at is None else time.monotonic() - at

    def replace_checker(self, checker: Checker) -> None:
        """Use another engine from the next batch on."""
        self._checker = checker

    async def read(
        self, parts: Sequence[Part], level: str | None = None, *, client: str = "", admitted: bool = False
    ) -> list[Changes]:
        """Read parts with whatever else waits; the answers are those that the parts get alone.

        Raises QueueFull at once where they would wait too long, but not where their request was `admitted`
        before.
        """
        jobs = self._jobs(parts, level, client)
        with self._changed:
            self._raise_if_stopped()
            self._queue.admit(jobs, self._tokens_per_second, always=admitted)
            self._changed.notify_all()
        return await self._answers(jobs)

    async def probe(self, part: Part) -> None:
        """Read a part before all others, to see whether the engine works."""
        jobs = self._jobs([part], None, "")
        with self._changed:
            self._raise_if_stopped()
            self._queue.admit_urgent(jobs)
            self._changed.notify_all()
        await self._answers(jobs)

    def close(self, timeout: float) -> None:
        """Finish what was admitted, then stop; what is not done within `timeout` seconds is left."""
        end = time.monotonic() + timeout
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for lane in self._lanes:
            lane.join(max(0.0, end - time.monotonic()))

    def _jobs(self, parts: Sequence[Part], level: str | None, client: str) -> list[_Job]:
        loop = asyncio.get_running_loop()
        return [_Job(part, level, client, loop, loop.create_future()) for part in parts]

    def _raise_if_stopped(self) -> None:
        if self._closing or not self.alive:
            raise EngineFailed(N_("The engine has stopped."))

    async def _answers(self, jobs: list[_Job]) -> list[Changes]:
        try:
            return await asyncio.gather(*(job.answer for job in jobs))
        finally:
            # Where the client went away or the time is over, what has not begun need not begin.
            for job in jobs:
                job.answer.cancel()

    def _run(self, express: bool) -> None:
        batch: list[_Job] = []
        try:
            while batch := self._next_batch(express):
                self._read_batch(batch)
                with self._changed:
                    del self._busy_since[express]
                    self._queue.finish(batch)
        except BaseException as failure:  # even an interpreter error must reach those who wait
            self._on_failure(failure)
            self._last_call_succeeded_at = None
            with self._changed:
                self._closing = True
                abandoned = [*batch, *self._queue.clear()]
                self._changed.notify_all()
            for job in abandoned:
                job.settle(EngineFailed(N_("The engine has stopped.")))

    def _next_batch(self, express: bool) -> list[_Job]:
        """Wait for jobs and take those that fit the budget, at least one; none when all is done."""
        batch: list[_Job] = []
        with self._changed:
            while not batch:
                self._changed.wait_for(lambda: self._has_work(express) or self._closing)
                if not self._has_work(express):
                    break
                fast_enough = max(_MEASURABLE_TOKENS, self._tokens_per_second * _LONGEST_BATCH_SECONDS)
                budget = min(self._batch_tokens, SHORT_TOKENS if express else fast_enough)
                batch = self._queue.take(budget, express_only=express)
            if batch:
                self._busy_since[express] = time.monotonic()
                self._changed.notify_all()
        return batch

    def _has_work(self, express: bool) -> bool:
        """The regular lane takes an express job only while the express lane is busy."""
        if express:
            return self._queue.has_express
        return self._queue.has_regular or (self._queue.has_express and True in self._busy_since)

    def _read_batch(self, batch: list[_Job]) -> None:
        by_level: dict[str | None, list[_Job]] = {}
        for job in batch:
            by_level.setdefault(job.level, []).append(job)
        for level, jobs in by_level.items():
            began = time.monotonic()
            if not self._read_jobs(jobs, level):
                # One bad part must not fail the others of its batch.
                for job in jobs:
                    self._read_jobs([job], level)
            seconds = max(time.monotonic() - began, 1e-6)
            tokens = sum(job.cost for job in jobs)
            self._measure_speed(tokens, seconds)
            self._on_batch(len(jobs), tokens, seconds)

    def _measure_speed(self, tokens: int, seconds: float) -> None:
        """A small batch is slow for its size; unless it took long, it gives only a lower bound of the speed.

        A decrease counts for more than an increase: to admit too much is worse than to admit too little.
        """
        with self._changed:
            difference = tokens / seconds - self._tokens_per_second
            if difference > 0:
                self._tokens_per_second += 0.3 * difference
            elif tokens >= _MEASURABLE_TOKENS or seconds > _LONGEST_BATCH_SECONDS:
                self._tokens_per_second += 0.7 * difference

    def _read_jobs(self, jobs: list[_Job], level: str | None) -> bool:
        """Read and deliver; False where the engine failed on several parts, which are then tried singly."""
        try:
            answers = self._checker.read([job.part for job in jobs], level)
            if len(answers) != len(jobs):
                raise EngineFailed(f"The engine gave {len(answers)} answers to {len(jobs)} parts.")
        except Exception as failure:
            if len(jobs) > 1:
                return False
            if not isinstance(failure, InputError):
                self._last_call_succeeded_at = None
                self.is_failing = True
                self._on_failure(failure)
                failure = EngineFailed(N_("The engine failed on this text."))
            for job in jobs:
                job.settle(failure)
            return True
        self._last_call_succeeded_at = time.monotonic()
        self.is_failing = False
        for job, answer in zip(jobs, answers, strict=True):
            job.settle(answer)
        return True
