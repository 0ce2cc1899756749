"""SIGTERM and SIGKILL under load: every client gets its answer, or cannot connect; no connection is reset."""

import collections
import concurrent.futures
import contextlib
import itertools
import os
import signal
import threading
import time
from pathlib import Path

import psutil
import pytest
from raw import check_request, connect, exchange, read_answer

CLIENTS = 8


def workers_of(server):
    found = []
    for child in server.own_process.children():
        with contextlib.suppress(psutil.Error):  # it may end while it is looked at
            found += [child] if "spawn_main" in " ".join(child.cmdline()) else []
    return found


def wait_until_all_have_started(server, workers):
    wait_for_events(server, "started", workers)


def wait_for_events(server, name, count):
    end = time.monotonic() + 60
    while Path(server.log).read_text().count(f'"event": "{name}"') < count:
        assert time.monotonic() < end
        time.sleep(0.1)


class Load:
    """Clients that connect, ask and read the answer again and again, each time over a new connection."""

    def __init__(self, server):
        self.server = server
        self.outcomes = collections.Counter()
        self._counting = threading.Lock()
        self._numbers = itertools.count()
        self._over = threading.Event()

    def __enter__(self):
        self._pool = concurrent.futures.ThreadPoolExecutor(CLIENTS)
        for _ in range(CLIENTS):
            self._pool.submit(self._work)
        return self

    def __exit__(self, *_):
        self._over.set()
        self._pool.shutdown()

    def wait_for_answers(self, count):
        end = time.monotonic() + 60
        while self.outcomes["answered"] < count:
            assert time.monotonic() < end, self.outcomes
            time.sleep(0.05)

    def _work(self):
        while not self._over.is_set():
            outcome = self._ask()
            with self._counting:
                self.outcomes[outcome] += 1
            if outcome == "not connected":
                return

    def _ask(self):
        try:
            connection = connect(self.server)
        except ConnectionRefusedError:
            return "not connected"
        with connection:
            try:
                # Another text each time: what the server remembers costs it no time.
                connection.sendall(check_request(f"{next(self._numbers)}，高心"))
                answer = read_answer(connection)
            except OSError:
                return "lost"
        if answer and answer[0] == 429:
            return "refused"  # a whole answer: more would wait than the server allows
        return "answered" if answer and answer[0] == 200 and "高兴" in answer[2].decode() else "lost"


@pytest.mark.parametrize(
    ("workers", "to_the_group"),
    [(1, False), (2, False), (2, True)],
    ids=["one process", "to the parent of two", "to all processes"],
)
def test_sigterm_under_load_loses_no_request(start_fake_server, workers, to_the_group):
    server = start_fake_server({"FAKE_SECONDS": "0.2"}, workers=workers)
    wait_until_all_have_started(server, workers)
    with Load(server) as load:
        load.wait_for_answers(CLIENTS)
        for process in workers_of(server) if to_the_group else []:
            process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
    assert load.outcomes["lost"] == 0, load.outcomes
    assert load.outcomes["not connected"] == CLIENTS


@pytest.mark.parametrize("workers", [1, 2])
def test_after_sigterm_nobody_can_connect_while_the_last_answer_is_awaited(start_fake_server, workers):
    server = start_fake_server({"FAKE_SECONDS": "4"}, workers=workers)
    wait_until_all_have_started(server, workers)
    with connect(server) as connection:
        connection.sendall(check_request())
        time.sleep(0.5)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(1.5)
        with pytest.raises(ConnectionRefusedError):
            connect(server)
        assert read_answer(connection)[0] == 200
    assert server.process.wait(60) == 0


@pytest.mark.parametrize("before", [0, 1], ids=["new connection", "idle connection"])
def test_request_that_crosses_the_stop_is_answered(start_fake_server, before):
    server = start_fake_server()
    with connect(server) as connection:
        for _ in range(before):
            connection.sendall(check_request())
            assert read_answer(connection)[0] == 200
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        connection.sendall(check_request())
        assert read_answer(connection)[0] == 200
        assert read_answer(connection) is None
    assert server.process.wait(60) == 0


def test_who_connected_before_the_stop_is_answered_though_the_request_comes_late(start_fake_server):
    server = start_fake_server()
    assert exchange(server, check_request())[0] == 200  # it has started, and handles signals
    with connect(server) as connection:
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.8)  # longer than others can still connect
        connection.sendall(check_request())
        assert read_answer(connection)[0] == 200
    assert server.process.wait(60) == 0


def test_silent_connections_do_not_delay_the_stop(start_fake_server):
    server = start_fake_server(time_limit=600)
    with connect(server):
        time.sleep(3)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(8) == 0


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no SIGHUP here")
def test_every_worker_reloads_under_load_and_loses_no_request(start_fake_server):
    server = start_fake_server(workers=2)
    wait_until_all_have_started(server, 2)
    with Load(server) as load:
        load.wait_for_answers(CLIENTS)
        server.process.send_signal(signal.SIGHUP)
        wait_for_events(server, "words reloaded", 2)
        load.wait_for_answers(load.outcomes["answered"] + CLIENTS)
    assert load.outcomes["lost"] == load.outcomes["not connected"] == 0


def test_sigkill_of_a_worker_loses_only_its_requests_in_flight(start_fake_server):
    server = start_fake_server({"FAKE_SECONDS": "0.1"}, workers=2)
    wait_until_all_have_started(server, 2)
    with Load(server) as load:
        load.wait_for_answers(CLIENTS)
        os.kill(workers_of(server)[0].pid, signal.SIGKILL)
        wait_until_all_have_started(server, 3)
        load.wait_for_answers(load.outcomes["answered"] + 2 * CLIENTS)
    assert load.outcomes["lost"] <= CLIENTS  # each has one request in flight
    assert load.outcomes["not connected"] == 0
