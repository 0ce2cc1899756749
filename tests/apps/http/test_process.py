"""Real server processes: signals, workers that die, slow and vanishing clients."""

import concurrent.futures
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest
from tests.waiting import wait_until


def check(server, text, timeout=120):
    # Without certificates, which take longer to read than most answers to come.
    return httpx.post(f"{server.address}/v1/check", json={"text": text}, timeout=timeout, verify=False)


def corrected(server, text):
    """As a client gets it: asked again where a busy machine had no time for it within a short limit."""
    for _ in range(10):
        answer = check(server, text)
        if answer.status_code not in (429, 503):
            break
        time.sleep(float(answer.headers.get("Retry-After", 0)))
    return answer.json()["results"][0]["text"]


def open_connections(server):
    connections = server.own_process.net_connections()
    return sum(connection.status == psutil.CONN_ESTABLISHED for connection in connections)


def test_sigterm_finishes_the_requests_in_hand(start_fake_server):
    server = start_fake_server({"FAKE_SECONDS": "1.5"})
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = [pool.submit(check, server, f"第{number}，高心") for number in range(5)]
        wait_until(lambda: open_connections(server) == 5)
        server.process.send_signal(signal.SIGTERM)
        results = [answer.result().json()["results"][0]["text"] for answer in answers]
    assert results == [f"第{number}，高兴" for number in range(5)]
    assert server.process.wait(60) == 0
    events = [json.loads(line)["event"] for line in Path(server.log).read_text().splitlines()]
    assert events[-1] == "stopped" or "stopped" in events


def test_sighup_reads_the_words_again(start_fake_server, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("平果", encoding="utf-8")
    server = start_fake_server({"FAKE_WORDS": str(words)})
    assert corrected(server, "平果高心") == "平果高兴"
    words.write_text("高心", encoding="utf-8")
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: corrected(server, "平果高心") == "苹果高心")
    words.unlink()
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "words not reloaded" in Path(server.log).read_text())
    assert corrected(server, "平果高心") == "苹果高心"


def test_sighup_during_the_start_is_deferred(port, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("高心", encoding="utf-8")
    command = [sys.executable, "-m", "nmspeller", "serve", "--port", str(port), "--words", str(words)]
    with open(tmp_path / "log", "wb") as log, subprocess.Popen(command, stderr=log) as process:
        # The port is taken before the model is loaded.
        wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0)
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: "words reloaded" in (tmp_path / "log").read_text())
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_worker_that_cannot_restart_logs_it_and_the_other_answers(start_fake_server, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("高心", encoding="utf-8")
    server = start_fake_server({"FAKE_WORDS": str(words)}, workers=2)
    log = Path(server.log)
    wait_until(lambda: log.read_text().count('"event": "started"') == 2)
    words.unlink()
    children = server.own_process.children()
    os.kill(
        next(child.pid for child in children if "spawn_main" in " ".join(child.cmdline())), signal.SIGKILL
    )
    wait_until(lambda: "worker not started" in log.read_text())
    assert httpx.get(f"{server.address}/healthz").text == "OK"
    assert corrected(server, "高心") == "高心"
    words.write_text("高心", encoding="utf-8")
    wait_until(lambda: log.read_text().count('"event": "started"') == 3)
    assert server.stop() == 0
    assert "Traceback" not in log.read_text()
    [reason] = {line["reason"] for line in map(json.loads, log.read_text().splitlines()) if "reason" in line}
    assert str(words) in reason


def test_killed_worker_is_replaced_while_the_other_answers(start_fake_server):
    server = start_fake_server(workers=2)
    parent = server.own_process

    def workers():
        found = []
        for child in parent.children():
            with contextlib.suppress(psutil.Error):  # it may die, or be dead, while it is looked at
                found += [child] if "spawn_main" in " ".join(child.cmdline()) else []
        return found

    wait_until(lambda: len(workers()) == 2)
    # A worker that is not serving yet could not be missed.
    wait_until(lambda: Path(server.log).read_text().count('"event": "started"') == 2)
    assert Path(server.log).read_text().count('"event": "listening"') == 1
    [victim, survivor] = workers()
    os.kill(victim.pid, signal.SIGKILL)
    failures = 0
    for number in range(40):
        try:
            assert corrected(server, f"第{number}，高心") == f"第{number}，高兴"
        except httpx.TransportError:
            failures += 1
        time.sleep(0.07)
    assert failures <= 1
    wait_until(lambda: len(workers()) == 2 and victim.pid not in [worker.pid for worker in workers()])
    assert survivor.is_running()
    page = httpx.get(f"{server.address}/metrics").text
    assert 'nmspeller_requests_total{path="/v1/check",status="200"}' in page


def test_slow_and_invalid_clients_do_no_harm(start_fake_server):
    server = start_fake_server(time_limit=0.5)
    host, port = server.address.removeprefix("http://").split(":")

    def send(content):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(content)
            connection.settimeout(60)
            return connection.recv(4_096)

    assert b" 408 " in send(b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{")
    for nonsense in (
        b"\x00\xff" * 100,
        b"GET\r\n\r\n",
        b"POST /v1/check HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ):
        assert b" 500 " not in send(nonsense)
    assert corrected(server, "高心") == "高兴"


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=["nothing", "half a head", "half a second head"],
)
def test_connection_without_a_whole_request_is_closed(start_fake_server, sent):
    server = start_fake_server(time_limit=0.5)
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.settimeout(60)
        connection.sendall(sent)
        if sent.endswith(b"\r\n\r\n"):
            assert b" 200 " in connection.recv(4_096)
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: ")
        # Uvicorn by itself would keep it open for ever: it closes only connections that are idle.
        while connection.recv(4_096):
            pass
    assert corrected(server, "高心") == "高兴"


@pytest.mark.parametrize("stream", [True, False])
def test_connection_whose_answer_is_not_read_is_closed(start_fake_server, stream):
    server = start_fake_server(time_limit=3)
    body = json.dumps({"text": "高心" * 20_000, "stream": stream}).encode()
    head = (
        "POST /v1/check HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}"
    )
    host, port = server.address.removeprefix("http://").split(":")
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        connection.connect((host, int(port)))
        connection.sendall(head.encode() + b"\r\n\r\n" + body)
        wait_until(lambda: open_connections(server) == 1)
        wait_until(lambda: open_connections(server) == 0)
    assert corrected(server, "高心") == "高兴"


def test_head_that_arrives_in_pieces_is_answered(start_fake_server):
    server = start_fake_server()
    body = '{"text": "高心"}'.encode()
    head = (
        "POST /v1/check HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}"
    )
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.settimeout(60)
        for drop in (head[:10], head[10:], "\r\n\r\n"):
            connection.sendall(drop.encode())
            time.sleep(0.2)
        connection.sendall(body)
        assert b" 200 " in connection.recv(4_096)


def test_work_of_a_disconnected_client_is_dropped(start_fake_server):
    server = start_fake_server({"FAKE_SECONDS": "0.3"}, batch_tokens=20)
    calls_before = engine_calls(server)
    with concurrent.futures.ThreadPoolExecutor(30) as pool:
        given_up = list(pool.map(lambda number: _give_up(server, f"第{number:02}个急性子"), range(30)))
    assert corrected(server, "高心") == "高兴"
    # More requests stood before this one; nearly all of them had been given up while the first was checked.
    assert engine_calls(server) - calls_before <= 10 < sum(given_up)


def engine_calls(server):
    page = httpx.get(f"{server.address}/metrics", verify=False).text
    return int(float(re.search(r"^nmspeller_batch_texts_count (\S+)", page, re.MULTILINE)[1]))


def _give_up(server, text):
    """Whether the request was still waiting; the server may have refused it."""
    try:
        check(server, text, timeout=0.2)
    except httpx.TimeoutException:
        return True
    return False
