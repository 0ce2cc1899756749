"""Words and model read again while the server runs."""

import asyncio
import gc
import threading
import weakref

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


async def test_the_garbage_collector_passes_over_the_tables_of_the_server_and_not_over_those_of_the_last():
    class Table:
        def __init__(self):
            self.itself = self  # only the collector can free it

    def load():
        checker = FakeChecker()
        checker.table = Table()
        tables.append(weakref.ref(checker.table))
        return checker

    tables = []
    service = Service(Settings(), load)
    service.start()
    try:
        await service.warm_up()
        assert tables[0]() not in gc.get_objects()
        await service.reloading.ask()
        gc.collect()
        assert [table() is None for table in tables] == [True, False]
        assert tables[1]() not in gc.get_objects()
    finally:
        service.stop()
        gc.unfreeze()
