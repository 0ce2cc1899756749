"""The queue before the engine, shared fairly among clients.

Every client gets the same share of the engine, whatever others send (self-clocked fair queueing: a job is
tagged with the virtual time at which it would be finished, and the smallest tag goes first). So short
requests overtake long ones, but one that waits is not overtaken for ever. A client's short and long requests
are counted apart, and its only request, if it is short, goes to an express lane.

Nothing here takes a lock: the batcher holds its own.
"""

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

SHORT_TOKENS = 256
"""A request of at most this cost is short."""
_LONGEST_RETRY_AFTER = 60


class Queued(Protocol):
    """A piece of work of a client; it may be given up while it waits."""

    client: str
    cost: int

    @property
    def given_up(self) -> bool: ...


Job = TypeVar("Job", bound=Queued)
_Flow = tuple[str, bool]  # a client, and whether the requests are its short ones


class QueueFull(Exception):
    """A request would wait too long; `retry_after` is in how many seconds it would not."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after


@dataclass
class _Entry(Generic[Job]):
    """A job in a heap; `number` keeps the order of arrival among equal tags."""

    tag: float
    number: int
    flow: _Flow
    job: Job

    def __lt__(self, other: "_Entry[Job]") -> bool:
        return (self.tag, self.number) < (other.tag, other.number)


class FairQueue(Generic[Job]):
    """Jobs of many clients, in fair order."""

    def __init__(self, *, most_tokens: int, longest_wait: float) -> None:
        self._most_tokens = most_tokens
        self._longest_wait = longest_wait
        self._express: list[_Entry[Job]] = []
        self._regular: list[_Entry[Job]] = []
        self._waiting: Counter[_Flow] = Counter()  # tokens
        self._unfinished: Counter[str] = Counter()  # jobs of a client, those in hand included
        self._last_tags: dict[_Flow, float] = {}
        self._virtual_time = 0.0
        self._admitted = 0

    @property
    def waiting_tokens(self) -> int:
        """How much waits."""
        return sum(self._waiting.values())

    @property
    def has_express(self) -> bool:
        """Whether anything waits for the express lane."""
        return bool(self._express)

    @property
    def has_regular(self) -> bool:
        """Whether anything waits for the regular lane."""
        return bool(self._regular)

    def admit(self, jobs: Sequence[Job], tokens_per_second: float, *, always: bool = False) -> None:
        """Queue the jobs of one request; QueueFull where they would wait too long, unless `always`."""
        if not jobs:
            return
        client, cost = jobs[0].client, sum(job.cost for job in jobs)
        flow = (client, cost <= SHORT_TOKENS)
        if not always:
            self._raise_if_the_wait_is_too_long(flow, cost, tokens_per_second)
        is_express = flow[1] and not self._unfinished[client]
        for job in jobs:
            tag = max(self._virtual_time, self._last_tags.get(flow, 0.0)) + job.cost
            self._push(self._express if is_express else self._regular, tag, flow, job)
            self._last_tags[flow] = tag

    def admit_urgent(self, jobs: Sequence[Job]) -> None:
        """Queue jobs before all others."""
        for job in jobs:
            self._push(self._express, -math.inf, (job.client, True), job)

    def take(self, budget: float, *, express_only: bool) -> list[Job]:
        """The next jobs that fit the budget of tokens, at least one; none where there is nothing to do."""
        heap = self._regular if self._regular and not express_only else self._express
        taken: list[Job] = []
        tokens = 0
        while heap and (not taken or tokens + heap[0].job.cost <= budget):
            entry = heapq.heappop(heap)
            self._virtual_time = max(self._virtual_time, entry.tag)
            self._stop_waiting(entry)
            if entry.job.given_up:
                self.finish([entry.job])
            else:
                taken.append(entry.job)
                tokens += entry.job.cost
        return taken

    def finish(self, jobs: Sequence[Job]) -> None:
        """Jobs that were taken are done."""
        for job in jobs:
            self._unfinished[job.client] -= 1
            if not self._unfinished[job.client]:
                del self._unfinished[job.client]

    def clear(self) -> list[Job]:
        """Take everything."""
        jobs = [entry.job for entry in (*self._express, *self._regular)]
        for counted in (self._express, self._regular, self._waiting, self._unfinished, self._last_tags):
            counted.clear()
        return jobs

    def _raise_if_the_wait_is_too_long(self, flow: _Flow, cost: int, tokens_per_second: float) -> None:
        own = self._waiting.get(flow, 0)
        others = (min(tokens, own + cost) for other, tokens in self._waiting.items() if other != flow)
        seconds = (own + sum(others)) / tokens_per_second
        clients = len({client for client, _ in self._waiting} | {flow[0]})
        over_its_share = own > 0 and own + cost > self._most_tokens / clients
        if seconds > self._longest_wait or over_its_share:
            raise QueueFull(min(_LONGEST_RETRY_AFTER, max(1, math.ceil(seconds))))

    def _push(self, heap: list[_Entry[Job]], tag: float, flow: _Flow, job: Job) -> None:
        self._admitted += 1
        heapq.heappush(heap, _Entry(tag, self._admitted, flow, job))
        self._waiting[flow] += job.cost
        self._unfinished[job.client] += 1

    def _stop_waiting(self, entry: _Entry[Job]) -> None:
        self._waiting[entry.flow] -= entry.job.cost
        if not self._waiting[entry.flow]:
            del self._waiting[entry.flow]
            self._last_tags.pop(entry.flow, None)
