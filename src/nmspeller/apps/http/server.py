"""Start the server, in this process or in several."""

import errno
import logging
import os
import signal
import socket
import sys
import tempfile
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import multiprocess

from nmspeller.apps.http.logs import start_logging
from nmspeller.apps.http.protocol import TimedProtocol
from nmspeller.apps.http.settings import Settings
from nmspeller.errors import InputError
from nmspeller.runtime import Speller
from nmspeller.runtime.engine import cores

_MOST_CONNECTIONS = 512
# A busy machine may take this long to load the model; a worker that is silent for longer is started again.
_LONGEST_START = 120


class _Worker(multiprocess.Process):
    """A worker whose death is noticed at once.

    Uvicorn's parent keeps the worker's end of their pipe open too, so it would wait for a dead one's answer
    for the whole time that a worker may be silent.
    """

    def start(self) -> None:
        super().start()
        self.child_conn.close()


def load_speller(settings: Settings) -> Speller:
    """The engine that a worker owns; the processor's cores are shared out among the workers."""
    threads = settings.threads or max(1, cores() // settings.workers)
    return Speller(
        settings.model,
        level=settings.level,
        words=Path(settings.words) if settings.words else None,
        threads=threads,
    )


def worker_app() -> FastAPI:
    """The application of a worker process, which finds its settings in the environment."""
    from nmspeller.apps.http.app import create_app

    settings = Settings.from_environment()
    start_logging(settings.log_text)
    return create_app(settings, lambda: load_speller(settings))


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was taken in."""
    require_free_address(settings)
    stop_cleanly()
    settings.to_environment()
    if settings.workers == 1:
        serve_app(worker_app(), settings)
        return
    # Whatever is wrong with the model or the words shall be said once, before workers start.
    load_speller(settings)
    start_logging(settings.log_text)
    with tempfile.TemporaryDirectory(prefix="nmspeller-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        serve_app("nmspeller.apps.http.server:worker_app", settings)


def require_free_address(settings: Settings) -> None:
    """Listen for a moment where the server will, so that nobody waits for a model that cannot be served."""
    where = f"{settings.host}, port {settings.port}"
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        for family, kind, protocol, _, address in found:
            with socket.socket(family, kind, protocol) as listener:
                # As the server itself will: a port that was in use a moment ago is free.
                if os.name == "posix":
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                listener.bind(address)
    except (OSError, UnicodeError) as wrong:
        if isinstance(wrong, OSError) and wrong.errno == errno.EADDRINUSE:
            raise InputError(f"Another program listens on {where} already; give another --port.") from None
        reason = getattr(wrong, "strerror", None) or wrong
        raise InputError(f"The server cannot listen on {where}: {reason}.") from None


def stop_cleanly() -> None:
    """End well on SIGTERM; uvicorn raises it once more when all is done, which would look like a crash."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def serve_app(app: FastAPI | str, settings: Settings) -> None:
    """Run uvicorn on an application, or on the name of its factory; it restarts workers that die."""
    multiprocess.Process = _Worker  # type: ignore[misc]
    uvicorn.run(
        app,
        factory=isinstance(app, str),
        host=settings.host,
        port=settings.port,
        http=TimedProtocol,
        workers=settings.workers,
        log_config=None,
        log_level=logging.INFO,
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=round(settings.time_limit) + 5,
        timeout_worker_healthcheck=_LONGEST_START,
    )
