"""The time of a request begins when its head was read, not when the application gets to it."""

import asyncio
import json
import re

import pytest
import uvicorn
from uvicorn.server import ServerState

from nmspeller.apps.http import protocol
from nmspeller.apps.http.middleware import BodyLimit
from nmspeller.apps.http.protocol import LimitedProtocol

REQUEST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"


class Wire(asyncio.Transport):
    """A connection that keeps what is written."""

    def __init__(self):
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.written = b""

    def write(self, data):
        self.written += data

    def is_closing(self):
        return False

    def close(self):
        pass

    def set_write_buffer_limits(self, high=None, low=None):
        pass

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


async def app(scope, receive, send):
    """Answers with how many seconds are left."""
    seconds = scope["nmspeller.deadline"] - asyncio.get_running_loop().time()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps(seconds).encode()})


@pytest.fixture
def answers(monkeypatch):
    """What a number of requests are answered that are read at once, a second of the clock for each."""
    monkeypatch.setattr(protocol, "_time_limit", lambda: 1000.0)

    async def ask(number, limit):
        loop = asyncio.get_running_loop()
        real, late = loop.time, [0.0]
        monkeypatch.setattr(loop, "time", lambda: real() + late[0])
        config = uvicorn.Config(BodyLimit(app, limit=100, seconds=limit), log_config=None)
        config.load()
        state = ServerState()
        wires = []
        for _ in range(number):
            connection = LimitedProtocol(config, state, {})
            wires.append(Wire())
            connection.connection_made(wires[-1])
            connection.data_received(REQUEST)
            late[0] += 1.0
        while not all(wire.written for wire in wires):
            await asyncio.sleep(0)
        return [wire.written for wire in wires]

    return lambda number, limit: asyncio.run(ask(number, limit))


def test_time_in_which_others_are_read_counts(answers):
    bodies = [written.split(b"\r\n\r\n", 1)[1] for written in answers(4, 60)]
    left = [float(re.search(rb"\d+\.\d+", body)[0]) for body in bodies]
    assert [round(seconds) for seconds in left] == [56, 57, 58, 59]


def test_a_request_that_the_application_gets_too_late_is_answered_at_once(answers):
    written = answers(4, 2.5)
    assert [answer.split()[1] for answer in written] == [b"503", b"503", b"200", b"200"]
    assert b"not finished within 2.5 s" in written[0]
    assert b"\r\nretry-after: " in written[0]
