"""Start the server, in this process or in several, and stop it without losing a request."""

import asyncio
import logging
import os
import selectors
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from nmspeller.apps.http.connections import Listener
from nmspeller.apps.http.listening import addresses, listen
from nmspeller.apps.http.logs import event, input_error, say_where, start_logging
from nmspeller.apps.http.settings import Settings
from nmspeller.apps.http.workers import Supervisor
from nmspeller.errors import InputError
from nmspeller.messages import speak
from nmspeller.runtime.checker import Checker, open_checker
from nmspeller.runtime.engine import cores

# How long the server goes on after SIGTERM, for what was sent before its clients could know.
_LAST_REQUESTS_SECONDS = 0.5
_MOST_ACCEPTED = 100  # times, at which others have connected since the last one
# How long the rest of the stop may take, beside the time limit of the last request.
_STOP_SECONDS = 5.0
# How long an idle connection stays open, if the time limit does not end it sooner. A request that is sent at
# that moment is lost, so this is longer than most clients and proxies wait before they use one again.
_IDLE_SECONDS = 75
_MOST_FILES = 4_096
# How long a thread waits for one that analyzes a long text to give it the interpreter, at each of its steps.
_SWITCH_SECONDS = 0.000_5

MakeApp = Callable[[], FastAPI]


def load_speller(settings: Settings) -> Checker:
    """The engine that a worker owns; the processor's cores are shared out among the workers."""
    threads = settings.threads or max(1, cores() // settings.workers)
    return open_checker(
        settings.model,
        level=settings.level,
        words=[Path(file) for file in settings.words],
        threads=threads,
        prefilter=settings.prefilter,
    )


def worker_app() -> FastAPI:
    """The application of a process, which finds its settings in the environment."""
    from nmspeller.apps.http.app import create_app

    settings = Settings.from_environment()
    start_logging(settings.log_text)
    return create_app(settings, lambda: load_speller(settings))


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then answer what is in hand."""
    # The port is taken first: loading a model that cannot be served would be a waste of time.
    with listen(settings) as listeners:
        settings.to_environment()
        if settings.workers > 1:
            # Whatever is wrong with the model or the words is reported once, before workers start.
            load_speller(settings)
        start_logging(settings.log_text)
        serve_app(worker_app, settings, listeners)


def serve_app(make_app: MakeApp, settings: Settings, listeners: list[socket.socket]) -> None:
    """Serve an application, which is made in each of the processes that are asked for."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # until the server has its own handler
    _allow_many_files()
    speak("en")  # in the log; each request has its own language
    if settings.workers == 1:
        app = make_app()
        say_where(addresses(listeners))
        asyncio.run(_serve(app, settings.time_limit, listeners))
        return
    say_where(addresses(listeners))
    with tempfile.TemporaryDirectory(prefix="nmspeller-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        work = partial(_work, make_app, settings.time_limit)
        Supervisor(work, listeners).run(settings.workers, settings.time_limit + 2 * _STOP_SECONDS)


def _work(make_app: MakeApp, time_limit: float, listeners: list[socket.socket]) -> None:
    """What a worker does; it logs one sentence where words or model can no longer be read."""
    speak("en")
    try:
        asyncio.run(_serve(make_app(), time_limit, listeners))
    except InputError as error:
        input_error("worker not started", error)
        sys.exit(2)


async def _serve(app: FastAPI, time_limit: float, listeners: list[socket.socket]) -> None:
    sys.setswitchinterval(_SWITCH_SECONDS)
    own: list[socket.socket] = [Listener(listener, app.state.connections) for listener in listeners]
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        log_config=None,
        log_level=logging.INFO,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the application considers them after it has found the connection
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=round(time_limit),
    )
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server.serve(own))
    while not server.started and not serving.done():
        await asyncio.sleep(0.005)  # short: until then uvicorn's own handlers would stop at once

    asked_to_stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # on Windows uvicorn's own handlers stay, which stop at once
            asyncio.get_running_loop().add_signal_handler(number, asked_to_stop.set)
    stopping = asyncio.ensure_future(asked_to_stop.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if asked_to_stop.is_set():
        # A thread may hang in the engine; the process ends in any case.
        last_resort = threading.Timer(time_limit + _STOP_SECONDS, os._exit, [1])
        last_resort.daemon = True
        last_resort.start()
        await _stop(server, app, own)
    stopping.cancel()
    await serving
    event("stopped")


async def _stop(server: uvicorn.Server, app: FastAPI, listeners: list[socket.socket]) -> None:
    """Let uvicorn stop, which closes each connection that has no request, after the last ones have come."""
    app.state.service.stopping = True  # so that each answer is the last one of its connection
    await asyncio.sleep(_LAST_REQUESTS_SECONDS)
    with selectors.DefaultSelector() as waiting:
        for listener in listeners:
            waiting.register(listener, selectors.EVENT_READ)
        # Connections that the system has made, but the event loop not accepted, would be reset.
        for _ in range(_MOST_ACCEPTED):
            await asyncio.sleep(0.01)
            if not waiting.select(0):
                break
    for each in server.servers:
        each.close()
    while app.state.connections.expects_a_request():
        await asyncio.sleep(0.05)
    server.should_exit = True


def _allow_many_files() -> None:
    """Each connection is one; the limit that the system sets at first is often 1,024."""
    with suppress(ImportError, ValueError, OSError):  # there is no such module on Windows
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
