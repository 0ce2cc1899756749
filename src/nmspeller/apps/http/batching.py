"""Texts of many requests, checked together.

One thread owns the engine. It takes what waits, up to a budget of tokens, and checks it in one call; while it
works, the next batch gathers, so batches grow with the load and nobody waits for company. What waits is
bounded: beyond it a request is refused at once, which is kinder than an answer after the client has gone.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from nmspeller.errors import InputError
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.correction import Correction
from nmspeller.text.script import Script

# Even an empty text costs a place in the queue; so short texts cannot fill memory below the token bound.
_COST_OF_A_TEXT = 8
# A request's words are made ready anew for each call: so many of their characters take as long as a token.
_WORD_CHARACTERS_A_TOKEN = 250
# No batch should keep those who come after it waiting for longer, however slow the machine.
_LONGEST_BATCH = 1.0
_TELLING_TOKENS = 256


class QueueFull(Exception):
    """Too much waits already; `retry_after` is a guess in whole seconds of when it will not."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after


class EngineFailed(Exception):
    """The engine could not check a text, or is gone."""


@dataclass(frozen=True)
class CheckOptions:
    """How a text is to be checked; only texts checked in the same options can share a call."""

    level: str | None = None
    words: tuple[str, ...] = ()
    document_script: Script = Script.NEUTRAL

    @property
    def cost(self) -> int:
        """What a call takes beside its texts, in tokens."""
        return sum(map(len, self.words)) // _WORD_CHARACTERS_A_TOKEN


@dataclass
class _Job:
    """One text on its way through the queue. `answer` belongs to the event loop and is only touched there."""

    text: str
    options: CheckOptions
    loop: asyncio.AbstractEventLoop
    answer: "asyncio.Future[Correction]"
    cost: int = field(init=False)

    def __post_init__(self) -> None:
        self.cost = len(self.text) + _COST_OF_A_TEXT

    def settle(self, outcome: "Correction | Exception") -> None:
        def deliver() -> None:
            if self.answer.done():
                return
            if isinstance(outcome, Exception):
                self.answer.set_exception(outcome)
            else:
                self.answer.set_result(outcome)

        with suppress(RuntimeError):  # the loop is closed, so nobody waits any more
            self.loop.call_soon_threadsafe(deliver)


class Batcher:
    """A bounded queue of texts before one engine. Its methods are called from the event loop."""

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
        self._queue_tokens = queue_tokens
        self._longest_wait = longest_wait
        self._on_batch = on_batch
        self._on_failure = on_failure
        self._jobs: deque[_Job] = deque()
        self._waiting = 0
        self._tokens_per_second = 4_000.0  # a guess until the first batches are done
        self._busy_since: float | None = None
        self._last_call_succeeded_at: float | None = None
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    @property
    def waiting_tokens(self) -> int:
        """How much waits, the batch in hand not counted."""
        return self._waiting

    @property
    def alive(self) -> bool:
        """Whether there is still a thread to answer."""
        return self._thread.is_alive()

    @property
    def busy_seconds(self) -> float:
        """How long the batch in hand has taken so far."""
        since = self._busy_since
        return 0.0 if since is None else time.monotonic() - since

    @property
    def seconds_since_success(self) -> float:
        """How long ago the engine last did what it should; infinity where it never did or last failed."""
        at = self._last_call_succeeded_at
        return float("inf") if at is None else time.monotonic() - at

    def replace_checker(self, checker: Checker) -> None:
        """Use another engine from the next batch on."""
        self._checker = checker

    async def check(
        self, texts: Sequence[str], options: CheckOptions, *, urgent: bool = False
    ) -> list[Correction]:
        """Check texts with whatever else waits; the answers are those that the texts get alone.

        Raises QueueFull at once where too much waits. An urgent text is let in regardless and goes first.
        """
        jobs = self._admit(texts, options, urgent)
        try:
            return await asyncio.gather(*(job.answer for job in jobs))
        finally:
            # Where the client went away or the time is over, what has not begun need not begin.
            for job in jobs:
                job.answer.cancel()

    def _admit(self, texts: Sequence[str], options: CheckOptions, urgent: bool) -> list[_Job]:
        loop = asyncio.get_running_loop()
        jobs = [_Job(text, options, loop, loop.create_future()) for text in texts]
        for first in jobs[:1]:
            first.cost += options.cost
        cost = sum(job.cost for job in jobs)
        with self._changed:
            if self._closing or not self.alive:
                raise EngineFailed("The engine has stopped.")
            seconds = self._waiting / self._tokens_per_second
            full = self._waiting + cost > self._queue_tokens or seconds > self._longest_wait
            if self._waiting and full and not urgent:
                raise QueueFull(retry_after=min(30, max(1, round(seconds))))
            self._waiting += cost
            if urgent:
                self._jobs.extendleft(reversed(jobs))
            else:
                self._jobs.extend(jobs)
            self._changed.notify()
        return jobs

    def close(self, timeout: float) -> None:
        """Finish what was taken in, then stop; what is not done within `timeout` seconds is left."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout)

    def _run(self) -> None:
        batch: list[_Job] = []
        try:
            while batch := self._next_batch():
                self._busy_since = time.monotonic()
                self._check_batch(batch)
                self._busy_since = None
        except BaseException as failure:  # even an interpreter error must reach those who wait
            self._on_failure(failure)
            self._last_call_succeeded_at = None
            with self._changed:
                self._closing = True
                abandoned = [*batch, *self._jobs]
                self._jobs.clear()
            for job in abandoned:
                job.settle(EngineFailed("The engine has stopped."))

    def _next_batch(self) -> list[_Job]:
        """Wait for jobs and take those that fit the budget, at least one; none when all is done."""
        batch: list[_Job] = []
        tokens = 0
        budget = min(self._batch_tokens, max(_TELLING_TOKENS, self._tokens_per_second * _LONGEST_BATCH))
        with self._changed:
            while not batch:
                self._changed.wait_for(lambda: self._jobs or self._closing)
                if not self._jobs:
                    break
                while self._jobs and (not batch or tokens + self._jobs[0].cost <= budget):
                    job = self._jobs.popleft()
                    self._waiting -= job.cost
                    if not job.answer.cancelled():
                        batch.append(job)
                        tokens += job.cost
        return batch

    def _check_batch(self, batch: list[_Job]) -> None:
        by_options: dict[CheckOptions, list[_Job]] = {}
        for job in batch:
            by_options.setdefault(job.options, []).append(job)
        for options, jobs in by_options.items():
            began = time.monotonic()
            if not self._check_jobs(jobs, options):
                # One text must not spoil its neighbours' answers.
                for job in jobs:
                    self._check_jobs([job], options)
            seconds = max(time.monotonic() - began, 1e-6)
            tokens = sum(job.cost for job in jobs)
            self._learn_speed(tokens, seconds)
            self._on_batch(len(jobs), tokens, seconds)

    def _learn_speed(self, tokens: int, seconds: float) -> None:
        """A small batch is slow for its size, so it says only that the engine is at least so fast.

        Bad news is believed sooner than good: to take in too much is worse than to take in too little.
        """
        difference = tokens / seconds - self._tokens_per_second
        if difference > 0:
            self._tokens_per_second += 0.3 * difference
        elif tokens >= _TELLING_TOKENS:
            self._tokens_per_second += 0.7 * difference

    def _check_jobs(self, jobs: list[_Job], options: CheckOptions) -> bool:
        """Check and deliver; False where the engine failed on several texts, which deserve another try."""
        try:
            answers = self._checker.check_many(
                [job.text for job in jobs],
                level=options.level,
                words=options.words or None,
                document_script=options.document_script,
            )
            if len(answers) != len(jobs):
                raise EngineFailed(f"The engine gave {len(answers)} answers to {len(jobs)} texts.")
        except Exception as failure:
            if len(jobs) > 1:
                return False
            if not isinstance(failure, InputError):
                self._last_call_succeeded_at = None
                self._on_failure(failure)
                failure = EngineFailed("The engine failed on this text.")
            for job in jobs:
                job.settle(failure)
            return True
        self._last_call_succeeded_at = time.monotonic()
        for job, answer in zip(jobs, answers, strict=True):
            job.settle(answer)
        return True
