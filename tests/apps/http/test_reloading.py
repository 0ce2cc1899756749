"""Words and model read again while the server runs."""

import asyncio
import threading

from fakes import FakeChecker

from nmspeller.apps.http.service import Service
from nmspeller.apps.http.settings import Settings


async def test_reload_during_a_reload_runs_once_more_afterwards_and_never_in_parallel():
    begun, go_on = [], threading.Event()

    def load():
        checker = FakeChecker(words=[str(len(begun))])
        begun.append(checker)
        if len(begun) > 1:
            go_on.wait(10)
        return checker

    service = Service(Settings(), load)
    service.start()
    for _ in range(10):
        reloading = service.reloading.ask()
        await asyncio.sleep(0.02)
    assert len(begun) == 2
    go_on.set()
    await reloading
    assert len(begun) == 3
    assert service.checker is begun[-1]
    service.stop()
