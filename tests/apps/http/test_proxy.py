"""nginx with deploy/nginx.conf in front of a server: what it keeps away, and what it must let through."""

import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace

import httpx
import psutil
import pytest
from raw import check_request, exchange

ROOT = Path(__file__).parents[3]
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
OPENSSL = shutil.which("openssl")
CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
CONTEXT.check_hostname, CONTEXT.verify_mode = False, ssl.CERT_NONE

pytestmark = pytest.mark.skipif(
    not (NGINX and OPENSSL), reason="nginx or openssl is not installed; `apt install nginx-light openssl`"
)


@contextlib.contextmanager
def nginx(folder, upstream):
    """The port of an nginx with the file that is deployed, but for addresses and paths."""
    names = ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost"]
    subprocess.run([OPENSSL, "req", "-x509", *key, *names], check=True, capture_output=True)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    text = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
    for deployed, here in (
        ("server nmspeller:8081", f"server {upstream}"),
        ("listen 8443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("/certificates", str(folder)),
        ("/tmp/nginx", str(folder / "nginx")),
    ):
        assert deployed in text
        text = text.replace(deployed, here)
    (folder / "nginx.conf").write_text(text, "utf-8")
    with open(folder / "nginx.log", "wb") as log:
        # Started by root it would work as somebody who may not write to the folders of tests.
        options = "daemon off; user root;" if os.geteuid() == 0 else "daemon off;"
        command = [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", options]
        process = subprocess.Popen(command, stderr=log, stdout=log)
    try:
        end = time.monotonic() + 60
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert process.poll() is None, (folder / "nginx.log").read_text()
            assert time.monotonic() < end
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(scope="module")
def proxy(tmp_path_factory, servers_of_fakes):
    """A server with a fake speller behind nginx."""
    folder = tmp_path_factory.mktemp("proxy")
    with servers_of_fakes(folder) as start:
        server = start()
        with nginx(folder, server.address.removeprefix("http://")) as port:
            yield SimpleNamespace(address=f"https://localhost:{port}", port=port, server=server)


@contextlib.contextmanager
def upstream(handler):
    """The address of a server with one handler, for what a proxy does with any server."""
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def ask(proxy, text, **headers):
    return httpx.post(
        f"{proxy.address}/v1/check", json={"text": text}, headers=headers, timeout=60, verify=CONTEXT
    )


def test_a_text_is_checked_through_the_proxy(proxy):
    answer = ask(proxy, "高心")
    assert answer.json()["results"][0]["text"] == "高兴"
    assert answer.headers["server"] == "nginx"


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: ",
        b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{",
    ],
    ids=["half a head", "a body that never comes"],
)
def test_what_is_not_whole_does_not_reach_the_server(proxy, sent):
    with contextlib.ExitStack() as stack:
        for _ in range(25):
            plain = socket.create_connection(("127.0.0.1", proxy.port), timeout=60)
            connection = CONTEXT.wrap_socket(plain, server_hostname="localhost")
            stack.enter_context(connection).sendall(sent)
        assert ask(proxy, "高心").status_code == 200
        reached = proxy.server.own_process.net_connections()
        assert sum(one.status == psutil.CONN_ESTABLISHED for one in reached) < 25
        assert exchange(proxy.server, check_request())[0] == 200


def test_requests_that_are_too_large_are_refused(proxy):
    assert ask(proxy, "高心", Name="x" * 17_000).status_code == 400
    assert ask(proxy, "字" * 800_000).status_code == 413


def test_an_answer_in_parts_is_not_collected(proxy, tmp_path):
    asking = {"text": "他慢慢来，很高心。", "stream": True}
    of_the_server = httpx.post(f"{proxy.server.address}/v1/check", json=asking, timeout=60).headers
    first_part_received = Event()

    class Server(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.send_header("X-Accel-Buffering", of_the_server["X-Accel-Buffering"])
            self.end_headers()
            self.wfile.write(b"6\r\nfirst\n\r\n")
            # A proxy that collects the answer would never deliver the first part alone.
            if first_part_received.wait(20):
                self.wfile.write(b"7\r\nsecond\n\r\n")
            self.wfile.write(b"0\r\n\r\n")

    with upstream(Server) as address, nginx(tmp_path, address) as port:
        url = f"https://localhost:{port}/v1/check"
        with httpx.stream("POST", url, json=asking, timeout=60, verify=CONTEXT) as answer:
            lines = answer.iter_lines()
            assert next(lines) == "first"
            first_part_received.set()
            assert list(lines) == ["second"]


def test_a_client_cannot_choose_the_address_that_it_is_known_by(tmp_path):
    received = {}

    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            received.update(self.headers)
            self.send_response(204)
            self.end_headers()

    with upstream(Server) as address, nginx(tmp_path, address) as port:
        forged = {"X-Forwarded-For": "192.0.2.1"}
        httpx.get(f"https://localhost:{port}/", headers=forged, timeout=60, verify=CONTEXT)
    assert received["X-Forwarded-For"] == "127.0.0.1"
    assert received["X-Forwarded-Proto"] == "https"
    assert received["Host"] == "localhost"
