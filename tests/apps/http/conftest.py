"""Servers for the tests: in this process around a fake, and in others around a fake or the real speller."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import httpx
import psutil
import pytest
from tests.forking import starting

FAKES = Path(__file__).with_name("fakes.py")
sys.path.insert(0, str(FAKES.parent))


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture
def port():
    return free_port()


class ServerProcess:
    """A server in a process of its own, stopped with the test."""

    def __init__(self, command, port, log, **environment):
        self.address = f"http://127.0.0.1:{port}"
        self.log = log
        with open(log, "wb") as stream:
            self.process = subprocess.Popen(
                command,
                stderr=stream,
                stdout=stream,
                env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
            )
        self.wait_until_ready()

    def wait_until_ready(self):
        # Reading the certificates of the authorities, which nobody asks for here, takes longer than asking.
        with httpx.Client(verify=False) as client:
            for _ in range(3_000):
                with contextlib.suppress(httpx.HTTPError):
                    if client.get(f"{self.address}/readyz").status_code == 200:
                        return
                if self.process.poll() is not None:
                    break
                time.sleep(0.03)
        self.process.kill()
        raise AssertionError(f"the server did not start: {Path(self.log).read_text()}")

    @property
    def own_process(self):
        """The server itself, which may have been forked by another process than the one started here."""
        listening = re.search(r'"process": (\d+), "event": "listening"', Path(self.log).read_text())
        return psutil.Process(int(listening[1]))

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise
        return self.process.returncode


@pytest.fixture(scope="session")
def fakes():
    """The command of the server around a fake speller."""
    with starting(FAKES) as command:
        yield command


@pytest.fixture(scope="session")
def servers_of_fakes(fakes):
    """`fake_servers`, for fixtures of other files: several folders have a module `conftest`."""
    return partial(fake_servers, fakes)


@contextlib.contextmanager
def fake_servers(command, folder):
    """Starts servers around a fake speller, and stops them in the end; their logs lie in the folder."""
    servers = []

    def start(environment=None, **settings):
        settings = {"port": free_port(), **settings}
        log = folder / f"{len(servers)}.log"
        started = ServerProcess(
            [*command, json.dumps(settings)], settings["port"], log, **(environment or {})
        )
        servers.append(started)
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def start_fake_server(servers_of_fakes, tmp_path):
    with servers_of_fakes(tmp_path) as start:
        yield start


@pytest.fixture(scope="module")
def fake_server(servers_of_fakes, tmp_path_factory):
    """One server around a fake speller for all tests of a module."""
    with servers_of_fakes(tmp_path_factory.mktemp("fake")) as start:
        yield start()


@pytest.fixture(scope="session")
def real_server(tmp_path_factory):
    """`nmspeller serve` with the shipped model, on one core: tests run side by side."""
    port = free_port()
    command = [sys.executable, "-m", "nmspeller", "serve", "--port", str(port), "--threads", "1"]
    server = ServerProcess(command, port, tmp_path_factory.mktemp("server") / "log")
    yield server.address
    assert server.stop() == 0


@pytest.fixture(scope="module")
def make_shared_client():
    """Makes clients of applications in this process, around a fake speller; they end with the module."""
    from fakes import FakeChecker
    from fastapi.testclient import TestClient

    from nmspeller.apps.http.app import create_app
    from nmspeller.apps.http.settings import Settings

    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        # The collector would look through all that other tests have imported; test_reloading.py lets it.
        patch.setattr("nmspeller.apps.http.service.settle_memory", lambda: None)

        def make(checker=None, **settings):
            checker = checker or FakeChecker()
            app = create_app(Settings(**settings), lambda: checker)
            client = TestClient(app, "http://localhost", raise_server_exceptions=False)
            stack.enter_context(client)
            checker.batches.clear()
            return client

        yield make


@pytest.fixture
def make_client(make_shared_client):
    return make_shared_client


@pytest.fixture(scope="module")
def client(make_shared_client):
    return make_shared_client()
