"""Many connections: silent ones make way, health checks are always answered, and errors have their form."""

import contextlib
import json
import socket

import pytest
from raw import check_request, connect, exchange, get_request, read_answer

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
def test_silent_connections_make_way_for_others(start_fake_server, sending):
    server = start_fake_server()
    with connections(server, MORE_THAN_THE_LIMIT, sending) as silent:
        for path in HEALTH_CHECKS:
            assert exchange(server, get_request(path))[0] == 200
        status, _, body = exchange(server, check_request())
        assert status == 200
        assert json.loads(body)["results"][0]["text"] == "高兴"
        assert silent[0].recv(1) == b""  # the oldest was closed, long before its time was over
        silent[-1].settimeout(0.2)
        with pytest.raises(socket.timeout):  # and the youngest was not
            silent[-1].recv(1)


def test_requests_over_the_limit_get_an_error_in_the_documented_form(start_fake_server):
    server = start_fake_server()
    unfinished = b"POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{"
    with connections(server, MORE_THAN_THE_LIMIT, unfinished) as busy:
        status, headers, body = read_answer(busy[-1])
        assert status == 503
        assert "Try again" in json.loads(body)["error"]
        for request, form in (
            (check_request(), b'{"error":"'),
            (get_request("/v2/check?language=zh&text=x"), b"Error: "),
        ):
            status, headers, body = exchange(server, request)
            assert status == 503
            assert int(headers["retry-after"]) >= 1
            assert body.startswith(form)
        for path in HEALTH_CHECKS:
            assert exchange(server, get_request(path))[0] == 200
    assert exchange(server, check_request())[0] == 200


def test_what_is_not_http_gets_an_error_in_the_documented_form(start_fake_server):
    server = start_fake_server()
    status, headers, body = exchange(server, b"GET\r\n\r\n")
    assert status == 400
    assert headers["connection"] == "close"
    assert json.loads(body) == {"error": "This is not a valid HTTP/1.1 request."}


def test_request_with_two_lengths_is_an_error_and_its_connection_is_closed(start_fake_server):
    server = start_fake_server()
    smuggled = get_request("/healthz")
    request = (
        b"POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled
    )
    with connect(server) as connection:
        connection.sendall(request)
        status, headers, body = read_answer(connection)
        assert status == 400
        assert headers["connection"] == "close"
        assert "Transfer-Encoding" in json.loads(body)["error"]
        assert read_answer(connection) is None
