"""A request is worked on as long as its client is there and its time is not over."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio
from fastapi import Request

Answer = TypeVar("Answer")


class ClientGone(Exception):
    """The client has closed its connection."""


async def while_wanted(request: Request, answer: Coroutine[Any, Any, Answer], deadline: float) -> Answer:
    """The answer; the work on it is cancelled at the deadline, as the event loop counts it.

    Raises:
        ClientGone: before there was an answer.
        TimeoutError: at the deadline.
    """
    is_gone = False

    async def watch() -> None:
        nonlocal is_gone
        while (await request.receive())["type"] != "http.disconnect":
            pass
        is_gone = True
        scope.cancel()

    with anyio.CancelScope(deadline=deadline) as scope:
        watching = asyncio.ensure_future(watch())
        try:
            return await answer
        finally:
            watching.cancel()
    raise ClientGone if is_gone else TimeoutError
