"""The server's port: taken before the model is loaded, kept while it is, and given back."""

import errno
import io
import json
import logging
import socket
import sys
from pathlib import Path

import httpx
import pytest

from nmspeller.__main__ import run
from nmspeller.apps.http.listening import addresses, listen
from nmspeller.apps.http.logs import event, say_where, start_logging
from nmspeller.apps.http.settings import Settings
from nmspeller.errors import InputError


def try_to_listen(port):
    """What another program is told that wants the port as badly as a server does; 0 where it gets it."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            other.bind(("127.0.0.1", port))
            other.listen()
        except OSError as error:
            return error.errno
    return 0


def test_port_in_use_is_reported_before_the_model_is_loaded(capsys, monkeypatch):
    monkeypatch.setattr(
        "nmspeller.apps.http.server.open_checker", lambda *_, **__: pytest.fail("it was loaded")
    )
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert run(["serve", "--port", str(port)]) == 2
    assert capsys.readouterr().err == (
        f"nmspeller: Port {port} on 127.0.0.1 is already in use; choose another with --port.\n"
    )


@pytest.mark.parametrize("workers", ["1", "2"])
def test_port_is_bound_while_the_model_is_loaded(monkeypatch, port, workers):
    told = []

    def load(*_, **__):
        told.append(try_to_listen(port))
        raise InputError("The model cannot be read.")

    monkeypatch.setattr("nmspeller.apps.http.server.open_checker", load)
    assert run(["serve", "--port", str(port), "--workers", workers]) == 2
    assert told == [errno.EADDRINUSE]
    assert try_to_listen(port) == 0


def test_connection_made_while_the_model_is_loaded_is_answered(monkeypatch, port):
    with socket.socket() as client:
        met = []

        def serve(make_app, _, listeners):
            make_app()
            with listeners[0].accept()[0] as connection:
                met.append(connection.getpeername())

        monkeypatch.setattr(
            "nmspeller.apps.http.server.worker_app", lambda: client.connect(("127.0.0.1", port))
        )
        monkeypatch.setattr("nmspeller.apps.http.server.serve_app", serve)
        assert run(["serve", "--port", str(port)]) == 0
        assert met == [client.getsockname()]


def test_an_address_listed_twice_is_bound_once(monkeypatch, port):
    found = socket.getaddrinfo("127.0.0.1", port, type=socket.SOCK_STREAM)
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: found * 2)
    with listen(Settings()) as listeners:
        assert len(listeners) == 1


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_at_a_terminal_a_sentence_says_where_the_page_is(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    start_logging(False)
    say_where(["http://127.0.0.1:8081"])
    event("request", path="/v1/check", status=200)
    logging.getLogger("nmspeller.serve").handlers.clear()
    listening, sentence, request = sys.stderr.getvalue().splitlines()
    assert sentence == "Open http://127.0.0.1:8081/ in a browser; Ctrl+C stops the server."
    assert listening.split()[1] == "listening"
    assert request.split()[1:] == ["request", "path=/v1/check", "status=200"]


def test_addresses_are_those_of_a_browser():
    with listen(Settings(port=0)) as listeners:
        [address] = addresses(listeners)
        assert address == f"http://127.0.0.1:{listeners[0].getsockname()[1]}"


def test_server_logs_its_addresses(start_fake_server):
    server = start_fake_server()
    events = [json.loads(line) for line in Path(server.log).read_text().splitlines()]
    [listening] = [event for event in events if event["event"] == "listening"]
    assert listening["addresses"] == [server.address]
    assert httpx.get(f"{server.address}/healthz").text == "OK"
