"""Whatever comes in, the server lives on, or goes cleanly."""

import json
import os
import signal
import subprocess
import threading
import time

import pytest


def message(body) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return b"Content-Length: %d\r\n\r\n" % len(data) + data


def call(method, params=None, id=None):
    body = {"jsonrpc": "2.0", "method": method, "params": params}
    return message(body if id is None else {**body, "id": id})


def opened(text, language="plaintext", uri="untitled:1"):
    return call(
        "textDocument/didOpen",
        {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": text}},
    )


def changed(*changes, version=2, uri="untitled:1"):
    document = {"uri": uri, "version": version}
    return call("textDocument/didChange", {"textDocument": document, "contentChanges": changes})


INITIALIZE = call("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, id=1)
INITIALIZED = call("initialized", {})
GOODBYE = call("shutdown", id=99) + call("exit")


class Wire:
    """The bytes of a server, with nothing of any client library between."""

    def __init__(self, command, errors=os.devnull):
        with open(errors, "wb") as stderr:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
            )
        # A server that falls silent fails the test instead of holding it up.
        self._watchdog = threading.Timer(120, self.process.kill)
        self._watchdog.start()

    def send(self, *messages):
        self.process.stdin.write(b"".join(messages))
        self.process.stdin.flush()

    def next(self):
        """The next message; anything on the wire that is not one fails here."""
        length = 0
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b":")
            length = int(value) if name == b"Content-Length" else length
        assert length, "the server is gone"
        return json.loads(self.process.stdout.read(length))

    def until(self, wanted):
        while not wanted(received := self.next()):
            pass
        return received

    def diagnostics(self):
        found = self.until(lambda received: received.get("method") == "textDocument/publishDiagnostics")
        return found["params"]["diagnostics"]

    def kill(self):
        self._watchdog.cancel()
        self.process.kill()
        self.process.stdout.close()
        self.process.wait()

    def end(self):
        """Say goodbye as the protocol wants it: all output is messages, and the exit code is 0."""
        self.send(GOODBYE)
        self.until(lambda received: received.get("id") == 99)
        assert self.process.stdout.read() == b""
        assert self.process.wait(60) == 0


@pytest.fixture
def wire(fake_server, tmp_path):
    wires = []

    def start(command=(*fake_server, str(tmp_path / "log")), **options):
        wires.append(Wire(command, **options))
        return wires[-1]

    yield start
    for each in wires:
        each.kill()


GARBAGE = [
    b"\x00\xff\xfe not a message at all\r\n\r\n",
    b"Content-Length: nonsense\r\n\r\n",
    b"content-length: 2\r\n\r\n{}\r\n",
    message(b"{not json"),
    message(b"\xff\xfe\xfd"),
    message(b"[1, 2, 3]"),
    message(b'"text"'),
    message(b"null"),
    message(b"[" * 20_000 + b"]" * 20_000),
    message({"jsonrpc": "1.0", "id": 5, "method": "initialize"}),
    message({"jsonrpc": "2.0", "id": 7, "result": "nobody asked"}),
    message({"jsonrpc": "2.0", "method": 3}),
    call("textDocument/didOpen", {"textDocument": None}),
    call("textDocument/didOpen"),
    call("textDocument/didChange", {"textDocument": {"uri": "x", "version": 1}, "contentChanges": []}),
    call("textDocument/didClose", {"textDocument": {"uri": "never opened"}}),
    call("textDocument/unheardOf", {}),
    call("textDocument/unheardOf", {}, id=11),
    call("workspace/executeCommand", {"command": "rm"}, id=12),
    call("workspace/executeCommand", {"command": "nmspeller.addWord", "arguments": []}, id=13),
    call("workspace/executeCommand", {"command": "nmspeller.ignore", "arguments": [{}, [], 1, None]}, id=14),
    call("workspace/didChangeConfiguration", {"settings": 5}),
    call("workspace/didChangeConfiguration", {"settings": {"nmspeller": [1]}}),
    call("$/cancelRequest", {"id": 12345}),
    call("textDocument/codeAction", {"nothing": "right"}, id=15),
]


def test_garbage_in_between_does_no_harm(wire):
    server = wire()
    server.send(INITIALIZE, INITIALIZED)
    for number, rubbish in enumerate(GARBAGE):
        server.send(rubbish, opened("明天在见", uri=f"untitled:{number}"))
        assert len(server.diagnostics()) == 1, rubbish
    server.end()


def test_a_request_that_makes_no_sense_is_answered(wire):
    server = wire()
    server.send(INITIALIZE, INITIALIZED, call("textDocument/codeAction", {"nothing": "right"}, id=15))
    answer = server.until(lambda received: received.get("id") == 15)
    assert answer["error"]["code"] == -32602
    assert "textDocument/codeAction" in answer["error"]["message"]
    server.end()


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/hover", {"textDocument": {"uri": "x"}, "position": {"line": 0, "character": 0}}),
        ("textDocument/codeAction", {"nothing": "right"}),
        ("workspace/executeCommand", {"command": "nmspeller.addWord", "arguments": ["untitled:1", "word"]}),
        ("textDocument/unheardOf", {}),
        ("shutdown", None),
    ],
)
def test_a_request_before_initialize_is_rejected(wire, method, params):
    server = wire()
    server.send(call(method, params, id=15))
    answer = server.next()
    assert (answer["id"], answer["error"]["code"]) == (15, -32002)
    server.send(INITIALIZE, INITIALIZED, opened("明天在见"))
    assert len(server.diagnostics()) == 1
    server.end()


@pytest.mark.parametrize("length", [b"99999999999", b"1000000000", b"9" * 5000])
def test_a_header_that_announces_too_much_is_refused_in_one_sentence(wire, tmp_path, length):
    server = wire(errors=tmp_path / "errors")
    server.send(INITIALIZE, INITIALIZED, b"Content-Length: " + length + b"\r\n\r\n{}\r\n", opened("明天在见"))
    assert len(server.diagnostics()) == 1
    server.end()
    errors = [line for line in (tmp_path / "errors").read_text().splitlines() if "must not reach" not in line]
    assert errors == [f"nmspeller: a message of {length[:20].decode()} bytes is refused."]


def test_garbage_before_the_greeting_does_no_harm(wire):
    server = wire()
    server.send(*GARBAGE, opened("明天在见"), INITIALIZE, INITIALIZED, opened("明天在见"))
    assert len(server.diagnostics()) == 1
    server.end()


def test_an_editor_need_not_number_its_versions(wire):
    server = wire()
    server.send(INITIALIZE, INITIALIZED, opened("明天见"))
    assert server.diagnostics() == []
    start = {"line": 0, "character": 2}
    server.send(changed({"text": "在", "range": {"start": start, "end": start}}, version=None))
    shown = server.until(lambda received: received.get("method") == "textDocument/publishDiagnostics")
    assert len(shown["params"]["diagnostics"]) == 1
    assert shown["params"].get("version") is None
    server.end()


def test_after_a_change_that_cannot_be_read_nothing_is_checked_until_the_next_full_text(wire):
    server = wire()
    server.send(INITIALIZE, INITIALIZED, opened("明天在见"))
    assert len(server.diagnostics()) == 1
    start, before = {"line": 0, "character": 0}, {"line": -1, "character": 0}
    unreadable = {"text": "我们", "range": {"start": before, "end": start}}
    readable = {"text": "平果", "range": {"start": start, "end": start}}
    server.send(changed(unreadable), changed(unreadable, version=3))
    assert server.diagnostics() == []
    shown = server.until(lambda received: received.get("method") == "window/showMessage")
    assert "untitled:1 cannot be read" in shown["params"]["message"]
    assert server.next()["params"]["diagnostics"] == []  # and no other message
    server.send(
        changed(readable, version=4), call("textDocument/didSave", {"textDocument": {"uri": "untitled:1"}})
    )
    server.send(changed({"text": "在见"}, readable, version=5))
    assert [one["range"]["start"]["character"] for one in server.diagnostics()] == [0, 2]
    server.end()


def test_strange_texts(wire):
    server = wire()
    server.send(INITIALIZE, INITIALIZED)
    strange = [
        "",
        "\ud800在见\udfff",
        "\0在见",
        "\u202e在见\u2066",
        "在见" + "\u0301" * 1000,
        "在见\n" * 5_000,
    ]
    for number, text in enumerate(strange):
        server.send(opened(text, uri=f"untitled:{number}"))
        assert len(server.diagnostics()) == text.count("在见")
    server.end()


def test_a_speller_that_breaks_costs_one_sentence(wire):
    server = wire()
    server.send(INITIALIZE, INITIALIZED, opened("坏"))
    assert server.diagnostics() == []
    shown = server.until(lambda received: received.get("method") == "window/showMessage")
    assert "RuntimeError" in shown["params"]["message"]
    server.send(opened("明天在见", uri="untitled:2"))
    assert len(server.diagnostics()) == 1
    server.end()


def test_what_is_asked_after_shutdown_is_rejected(wire):
    server = wire()
    server.send(INITIALIZE, INITIALIZED, call("shutdown", id=2), call("shutdown", id=3))
    assert server.until(lambda received: received.get("id") == 2)["result"] is None
    assert server.until(lambda received: received.get("id") == 3)["error"]["code"] == -32600
    server.send(call("exit"))
    assert server.process.wait(60) == 0


def test_an_editor_that_never_sends_its_settings_is_waited_for_once(wire, tmp_path):
    server = wire()
    capabilities = {"workspace": {"configuration": True}}
    options = {"debounce": 0}
    params = {"processId": None, "capabilities": capabilities, "initializationOptions": options}
    server.send(call("initialize", params, id=1), INITIALIZED, opened("明天在见"))
    assert len(server.diagnostics()) == 1
    for version in range(2, 7):
        server.send(changed({"text": "在见" * version}, version=version))
        assert len(server.diagnostics()) == version
    server.end()
    waits = (tmp_path / "log.waits").read_text().split()
    assert [float(seconds) for seconds in waits if float(seconds)] == [2.0]


def test_exit_without_shutdown_is_exit_code_1(wire):
    server = wire()
    server.send(INITIALIZE, INITIALIZED, call("exit"))
    assert server.process.wait(60) == 1


def test_the_server_goes_when_its_editor_is_gone(wire):
    server = wire()
    server.send(INITIALIZE, INITIALIZED, opened("慢\n" * 3))
    server.process.stdin.close()
    assert server.process.wait(60) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals are for POSIX")
@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_the_middle_of_its_work(wire, kill):
    server = wire()
    many = "\n".join(f"慢{number}" for number in range(100))
    server.send(INITIALIZE, INITIALIZED, opened(many))
    server.until(lambda received: received.get("id") == 1)
    server.process.send_signal(kill)
    assert server.process.wait(60) == -kill


def test_killed_it_can_be_started_again(wire):
    server = wire()
    server.send(INITIALIZE, INITIALIZED, opened("明天在见"))
    assert len(server.diagnostics()) == 1
    server.process.kill()

    again = wire()
    again.send(INITIALIZE, INITIALIZED, opened("明天在见"))
    assert len(again.diagnostics()) == 1
    again.end()


def test_shutdown_does_not_wait_for_the_work(wire):
    server = wire()
    server.send(
        INITIALIZE, INITIALIZED, opened("\n".join(f"慢{number}" + "长" * 900 for number in range(300)))
    )
    server.until(lambda received: received.get("id") == 1)
    time.sleep(0.5)
    server.end()  # which does not wait for five minutes, as the work would take


@pytest.mark.parametrize("polite", [True, False])
def test_the_server_exits_in_the_middle_of_a_long_check(wire, tmp_path, polite):
    server = wire()
    server.send(INITIALIZE, INITIALIZED, opened("停" + "很长的文章。" * 5000))
    while not (tmp_path / "log").exists():
        time.sleep(0.01)
    server.send(GOODBYE if polite else call("exit"))
    assert server.process.wait(60) == (0 if polite else 1)  # the check would go on for five minutes
    if polite:
        server.until(lambda received: received.get("id") == 99)
