"""What takes long is done in a thread, so that other requests are read and answered meanwhile."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from nmspeller.apps.http.engine_queue import SHORT_TOKENS

Result = TypeVar("Result")


class Threads:
    """Threads for work that takes long, one for each client at a time.

    There are only a few, and none can be stopped: a client that sends many long texts, or leaves while they
    are analyzed, must not have all of them.
    """

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[Any]] = {}

    async def unless_short(self, client: str, characters: int, work: Callable[[], Result]) -> Result:
        """The result of some work on so many characters.

        A few take a millisecond or two. A thread would need longer to be woken on a busy machine, and the
        event loop to learn of its result.
        """
        if characters <= SHORT_TOKENS:
            return work()
        while running := self._running.get(client):
            await asyncio.wait([running])
        task = self._running[client] = asyncio.ensure_future(asyncio.to_thread(work))
        task.add_done_callback(lambda _: self._running.pop(client))
        return await asyncio.shield(task)
