"""Nothing leaves the machine: no name look-up, no connection, and no file but those that SECURITY.md names.

Every program runs under strace with an empty home folder; what the kernel was asked for is the evidence.
"""

import ast
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

SOURCES = Path(__file__).parents[1] / "src" / "nmspeller"
TEXT = "我今天很高心。"
# Telemetry of ONNX Runtime is uploaded by a timer, about ten seconds after the import.
SECONDS_UNTIL_AN_UPLOAD = 15

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


class Recording:
    """A folder for a program's home and temporary files, and the system calls of the program."""

    def __init__(self, folder):
        self.home = folder / "home"
        self.temporary = folder / "tmp"
        self.work = folder / "work"
        for made in (self.home, self.temporary, self.work):
            made.mkdir()
        self._calls = folder / "calls"

    def start(self, *command, **options):
        recorder = ["strace", "-f", "-qq", "-s", "256", "-e", "trace=%file,%network", "-o", str(self._calls)]
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
        }
        return subprocess.Popen(
            [*recorder, sys.executable, *command], env=environment, cwd=self.work, **options
        )

    def run(self, *command):
        with self.start(*command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            output = process.communicate(timeout=180)[0]
        return process.returncode, output

    def network(self):
        """Name look-ups, and messages to any but this machine; a resolver on this machine counts as well."""
        calls = self._calls.read_text(errors="replace").splitlines()
        outside = re.compile(r'sin_addr=inet_addr\("(?!127\.|0\.0\.0\.0)|inet_pton\(AF_INET6, "(?!::1?")')
        look_up = re.compile(r'/etc/resolv\.conf"|/nscd/socket"|systemd\.Resolve"|htons\((53|5353|853)\)')
        asked = [call for call in calls if re.search(r"\b(connect|send(to|msg|mmsg)|openat?)\(", call)]
        return [call for call in asked if look_up.search(call) or outside.search(call)]

    def files(self):
        """What was made or opened for writing, with or without success, but for devices."""
        calls = self._calls.read_text(errors="replace").splitlines()
        writing = re.compile(
            r"\b(?:open(?:at)?\(.*O_(?:CREAT|WRONLY|RDWR|TRUNC)|creat\(|mkdir(?:at)?\(|rename|(?:sym)?link(?:at)?\()"
        )
        written = {path for call in calls if writing.search(call) for path in re.findall(r'"([^"]*)"', call)}
        # The hash of the model is remembered in the user's cache, so that the next start need not compute it.
        allowed = re.compile(
            rf"/dev/(null|tty|pts/|shm/)|/proc/|{re.escape(str(self.home))}/\.cache(/nmspeller|$)"
        )
        return {path for path in written if not allowed.match(path)}

    def assert_offline(self):
        assert self.network() == []
        assert self.files() == set()
        assert {path.name for path in self.home.iterdir()} <= {".cache"}
        for folder in (self.temporary, self.work):
            assert list(folder.iterdir()) == []


@pytest.fixture
def recording(tmp_path):
    return Recording(tmp_path)


@needs_strace
def test_recording_notices_files_and_name_look_ups(recording):
    program = (
        "import contextlib, socket, pathlib\n"
        "pathlib.Path.home().joinpath('id').write_text('1')\n"
        "with contextlib.suppress(OSError): socket.getaddrinfo('telemetry.invalid', 443)\n"
    )
    recording.run("-c", program)
    assert recording.network()
    assert recording.files() == {str(recording.home / "id")}


@needs_strace
def test_check_is_offline(recording):
    code, output = recording.run("-m", "nmspeller", "check", "--text", TEXT)
    assert code == 1
    assert "兴" in output
    recording.assert_offline()


@needs_strace
def test_speller_is_offline(recording):
    program = (
        "import time\nfrom nmspeller import Speller\n"
        f"print(Speller().correct({TEXT!r}))\ntime.sleep({SECONDS_UNTIL_AN_UPLOAD})\n"
    )
    assert recording.run("-c", program) == (0, "我今天很高兴。\n")
    recording.assert_offline()


@needs_strace
@pytest.mark.parametrize("workers", [1, 2])
def test_server_is_offline(recording, workers):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    options = ("--port", str(port), "--workers", str(workers))
    # A group of its own, so that the signal reaches the server and not strace alone.
    with recording.start("-m", "nmspeller", "serve", *options, start_new_session=True) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            assert answers_within(180, f"{address}/readyz")
            answer = httpx.post(f"{address}/v1/check", json={"text": TEXT}, timeout=60).json()
            assert answer["results"][0]["text"] == "我今天很高兴。"
            assert httpx.get(f"{address}/").status_code == 200
            assert httpx.get(f"{address}/metrics").status_code == 200
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(90)
    # Several workers add up their figures for /metrics in a temporary folder.
    files = recording.files()
    assert any("/nmspeller-metrics-" in path for path in files) == (workers > 1)
    assert {path for path in files if workers == 1 or not path.startswith(str(recording.temporary))} == set()
    assert recording.network() == []
    for folder in (recording.home, recording.temporary, recording.work):
        assert {path.name for path in folder.iterdir()} <= {".cache"}


def answers_within(seconds, address):
    end = time.monotonic() + seconds
    with httpx.Client(verify=False) as client:  # certificates take longer to read than an answer to come
        while time.monotonic() < end:
            with contextlib.suppress(httpx.HTTPError):
                if client.get(address).status_code == 200:
                    return True
            time.sleep(0.2)
    return False


@needs_strace
def test_language_server_is_offline(recording):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    document = {"uri": "file:///letter.txt", "languageId": "plaintext", "version": 1, "text": TEXT}
    with recording.start("-m", "nmspeller", "lsp", **pipes) as process:

        def send(method, number=None, **params):
            message = {"jsonrpc": "2.0", "method": method, "params": params or None}
            body = json.dumps(message if number is None else {**message, "id": number}).encode()
            process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            process.stdin.flush()

        def receive():
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += process.stdout.read(1) or pytest.fail("the server went away")
            length = int(re.search(rb"Content-Length: (\d+)", head)[1])
            return json.loads(process.stdout.read(length))

        send("initialize", 1, processId=None, rootUri=None, capabilities={})
        send("initialized")
        send("textDocument/didOpen", textDocument=document)
        while (message := receive()).get("method") != "textDocument/publishDiagnostics":
            pass
        assert message["params"]["diagnostics"]
        send("shutdown", 2)
        send("exit")
        assert process.wait(60) == 0
    recording.assert_offline()


def test_onnx_runtime_is_imported_in_one_place_only():
    """Any other import could come first, and start the telemetry."""
    importing = []
    for file in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] == "onnxruntime" for name in names):
                importing.append(file.relative_to(SOURCES).as_posix())
    assert importing == ["runtime/onnx_runtime.py"]
