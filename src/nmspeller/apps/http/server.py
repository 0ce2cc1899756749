"""Start the server, in this process or in several."""

import logging
import os
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.main import STARTUP_FAILURE
from uvicorn.supervisors import multiprocess

from nmspeller.apps.http.listening import addresses, listen
from nmspeller.apps.http.logs import event, input_error, start_logging
from nmspeller.apps.http.protocol import LimitedProtocol
from nmspeller.apps.http.reloading import handle_early_sighup
from nmspeller.apps.http.settings import Settings
from nmspeller.apps.http.stopping import GracefulServer, Supervisor
from nmspeller.errors import InputError
from nmspeller.messages import speak
from nmspeller.runtime.checker import Checker, open_checker
from nmspeller.runtime.engine import cores

# A busy machine may take this long to load the model; a worker that takes longer is restarted.
_LONGEST_START = 120


class _Worker(multiprocess.Process):
    """A worker whose death is noticed at once.

    Uvicorn's parent keeps the worker's end of their pipe open too, so it would wait for a dead worker
    until the health check times out.
    """

    def start(self) -> None:
        super().start()
        self.child_conn.close()

    @cached_property
    def server(self) -> GracefulServer:
        """What a worker runs, since uvicorn 0.51."""
        return GracefulServer(self.config)

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Run in the worker's process; log one sentence where words or model can no longer be read."""
        try:
            super().target(sockets)
        except InputError as wrong:
            input_error("worker not started", wrong)
            sys.exit(2)


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
    """The application of a worker process, which finds its settings in the environment."""
    from nmspeller.apps.http.app import create_app

    settings = Settings.from_environment()
    start_logging(settings.log_text)
    return create_app(settings, lambda: load_speller(settings))


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then answer what is in hand."""
    # The port is taken first: loading a model that cannot be served would be a waste of time.
    with listen(settings) as listeners:
        stop_cleanly()
        settings.to_environment()
        if settings.workers == 1:
            serve_app(worker_app(), settings, listeners)
            return
        # Whatever is wrong with the model or the words is reported once, before workers start.
        load_speller(settings)
        start_logging(settings.log_text)
        with tempfile.TemporaryDirectory(prefix="nmspeller-metrics-") as folder:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
            serve_app("nmspeller.apps.http.server:worker_app", settings, listeners)


def stop_cleanly() -> None:
    """Exit with 0 on SIGTERM, which uvicorn raises again after its own shutdown."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def serve_app(app: FastAPI | str, settings: Settings, listeners: list[socket.socket]) -> None:
    """Run uvicorn on an application, or on the name of its factory in as many processes as are asked for."""
    config = uvicorn.Config(
        app,
        factory=isinstance(app, str),
        http=LimitedProtocol,
        workers=settings.workers,
        log_config=None,
        log_level=logging.INFO,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=round(settings.time_limit) + 5,
        timeout_worker_healthcheck=_LONGEST_START,
    )
    speak("en")  # in the log; each request has its own language
    event("listening", addresses=addresses(listeners))
    server = GracefulServer(config)
    with suppress(KeyboardInterrupt):  # uvicorn raises it again after its own shutdown
        if settings.workers > 1:
            _supervise(config, server, listeners)
        else:
            server.run(listeners)
            if not server.started:
                sys.exit(STARTUP_FAILURE)


def _supervise(config: uvicorn.Config, server: GracefulServer, listeners: list[socket.socket]) -> None:
    """Keep workers alive that share the listeners; one that dies is started again."""
    multiprocess.Process = _Worker  # type: ignore[misc]
    # Uvicorn before 0.51 takes what a worker runs as an argument, later versions do not.
    known: dict[str, Any] = {"config": config, "target": server.run, "sockets": listeners}
    asked = signature(multiprocess.Multiprocess).parameters
    supervisor = Supervisor(**{name: known[name] for name in asked})
    handle_early_sighup()
    supervisor.run()
