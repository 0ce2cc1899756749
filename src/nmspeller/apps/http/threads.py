"""What takes long is done in a thread, so that other requests are read and answered meanwhile."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from nmspeller.apps.http.engine_queue import SHORT_TOKENS

Result = TypeVar("Result")


async def unless_short(characters: int, work: Callable[[], Result]) -> Result:
    """The result of some work on so many characters.

    A few take a millisecond or two. A thread would need longer to be woken on a busy machine, and the event
    loop to learn of its result.
    """
    return work() if characters <= SHORT_TOKENS else await asyncio.to_thread(work)
