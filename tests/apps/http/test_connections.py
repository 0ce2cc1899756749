"""Many connections: silent ones make way, health checks are always answered, and errors have their form."""

import contextlib
import json
import socket
import time

import pytest
from raw import check_request, connect, exchange, get_request, read_answer

from nmspeller.apps.http.connections import LONGEST_HEAD_SECONDS, Connections

MORE_THAN_THE_LIMIT = 530
HEALTH_CHECKS = ["/healthz", "/readyz", "/v2/healthcheck"]


@contextlib.contextmanager
def connections(server, count, sending=b""):
    with contextlib.ExitStack() as stack:
        opened = []
        for _ in range(count):
            opened.append(stack.enter_context(connect(server)))
            opened[-1].sendall(sending)
        yield opened


@pytest.mark.parametrize(
    "sending", [b"", b"POST /v1/check HTTP/1.1\r\nHost: "], ids=["nothing", "half a head"]
)
def test_silent_connections_make_way_for_others(fake_server, sending):
    with connections(fake_server, MORE_THAN_THE_LIMIT, sending) as silent:
        for path in HEALTH_CHECKS:
            assert exchange(fake_server, get_request(path))[0] == 200
        status, _, body = exchange(fake_server, check_request())
        assert status == 200
        assert json.loads(body)["results"][0]["text"] == "高兴"
        assert silent[0].recv(1) == b""  # the oldest was closed, long before its time was over
        silent[-1].settimeout(0.2)
        with pytest.raises(socket.timeout):  # and the youngest was not
            silent[-1].recv(1)


def test_bodies_that_never_come_do_not_keep_others_from_being_answered(fake_server):
    unfinished = b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{"
    with connections(fake_server, MORE_THAN_THE_LIMIT, unfinished):
        for path in HEALTH_CHECKS:
            assert exchange(fake_server, get_request(path))[0] == 200
        assert exchange(fake_server, check_request())[0] == 200


def test_the_key_is_tested_before_a_body_comes(start_fake_server):
    server = start_fake_server(api_key="s3cret")
    for path, head in (("/v1/check", ""), ("/v1/files", ""), ("/v2/check", "Authorization: Bearer x\r\n")):
        request = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: 50\r\n\r\n{{"
        status, headers, _ = exchange(server, request.encode())
        assert (status, headers["connection"]) == (401, "close")
    # LanguageTool's clients may have it in the body, so some of these are read.
    unfinished = b"POST /v2/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{"
    with connections(server, MORE_THAN_THE_LIMIT, unfinished) as without_key:
        assert read_answer(without_key[-1])[0] == 503
        assert exchange(server, check_request(Authorization="Bearer s3cret"))[0] == 200
        # They are another client's: who has the key in the body is answered as well.
        form = b"language=zh&apiKey=s3cret&text=%E9%AB%98%E5%BF%83"
        head = (
            "POST /v2/check HTTP/1.1\r\nHost: localhost\r\nUser-Agent: LibreOffice\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(form)}\r\n\r\n"
        )
        assert exchange(server, head.encode() + form)[0] == 200


def test_what_is_not_http_is_an_error_and_ends_the_connection(fake_server):
    with connect(fake_server) as connection:
        connection.sendall(b"GET\r\n\r\n")
        assert connection.recv(4_096).startswith(b"HTTP/1.1 400 ")
        while connection.recv(4_096):
            pass


def test_a_head_that_is_too_long_is_an_error(fake_server):
    with connect(fake_server) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000)
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(4_096)[:12] in (b"HTTP/1.1 400", b"")
    assert exchange(fake_server, check_request())[0] == 200


def test_request_with_two_lengths_is_an_error_and_its_connection_is_closed(fake_server):
    smuggled = get_request("/healthz")
    request = (
        b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled
    )
    with connect(fake_server) as connection:
        connection.sendall(request)
        status, headers, body = read_answer(connection)
        assert status == 400
        assert headers["connection"] == "close"
        assert "Transfer-Encoding" in json.loads(body)["error"]
        assert read_answer(connection) is None


@pytest.fixture
def pair():
    """A connection as the server has accepted it, and its client's end."""
    accepted, client = socket.socketpair()
    accepted.setblocking(False)
    with accepted, client:
        yield accepted, client


@pytest.mark.parametrize(("sent", "answer"), [(b"", b""), (b"GET", b"later")], ids=["silent", "not read yet"])
def test_a_request_that_the_server_was_too_busy_to_read_is_not_late(pair, sent, answer):
    accepted, client = pair
    own = Connections(time_limit=60)
    own.note(accepted, ("127.0.0.1", 1))
    client.sendall(sent)
    own.sweep(time.monotonic() + 2 * LONGEST_HEAD_SECONDS)
    with contextlib.suppress(BrokenPipeError):
        accepted.sendall(b"later")
    assert client.recv(5) == answer


@pytest.mark.parametrize(("sent", "answer"), [(b"", b""), (b"GET", b"later")], ids=["silent", "not read yet"])
def test_of_too_many_connections_those_with_a_request_stay(pair, sent, answer, monkeypatch):
    monkeypatch.setattr("nmspeller.apps.http.connections.MOST_CONNECTIONS", 0)
    accepted, client = pair
    own = Connections(time_limit=60)
    own.note(accepted, ("127.0.0.1", 1))
    client.sendall(sent)
    own.sweep(time.monotonic() + LONGEST_HEAD_SECONDS / 2)
    with contextlib.suppress(BrokenPipeError):
        accepted.sendall(b"later")
    assert client.recv(5) == answer
