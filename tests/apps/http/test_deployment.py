"""The files that others deploy with name commands and options that exist."""

import configparser
import json
import os
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

from nmspeller.__main__ import run

ROOT = Path(__file__).parents[3]


def options_of_serve(capsys):
    assert run(["serve", "--help"]) == 0
    return set(re.findall(r"--[a-z-]+", capsys.readouterr().out))


def test_every_documented_option_exists(capsys):
    options = options_of_serve(capsys)
    commands = (ROOT / "Dockerfile", ROOT / "compose.yaml", ROOT / "deploy" / "nmspeller.service")
    written = {
        option
        for file in (ROOT / "docs" / "serving.md", ROOT / "SECURITY.md")
        for option in re.findall(r"`(--[a-z-]+)", file.read_text("utf-8"))
    }
    started = {
        option
        for file in commands
        for line in file.read_text("utf-8").splitlines()
        if line.startswith(("ENTRYPOINT", "ExecStart")) or "command:" in line
        for option in re.findall(r"--[a-z-]+", line)
    }
    assert written
    assert started
    assert written | started <= options


def test_containers_run_without_privileges():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    for service in services.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
    assert "ports" not in services["nmspeller"]  # only the proxy reaches it
    assert re.search(r"^USER nmspeller$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)


def test_container_has_as_many_threads_as_cores():
    service = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]["nmspeller"]
    threads = service["command"][service["command"].index("--threads") + 1]
    assert threads == service["deploy"]["resources"]["limits"]["cpus"]


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_container_is_as_healthy_as_its_server_whatever_proxy_there_is(status, code):
    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status if self.path == "/healthz" else 404)
            self.end_headers()

    with HTTPServer(("127.0.0.1", 0), Server) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
        _, *arguments = json.loads(re.search(r"^  CMD (.+)$", dockerfile, re.MULTILINE)[1])
        command = [sys.executable, *(word.replace("8081", str(server.server_port)) for word in arguments)]
        proxy = {"http_proxy": "http://127.0.0.1:9"}
        assert subprocess.run(command, env={**os.environ, **proxy}).returncode == code
        server.shutdown()


def test_unit_reloads_and_is_sandboxed():
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str
    unit.read(ROOT / "deploy" / "nmspeller.service", encoding="utf-8")
    service = unit["Service"]
    assert "-HUP" in service["ExecReload"]
    assert service["DynamicUser"] == service["NoNewPrivileges"] == "yes"
    assert service["ProtectSystem"] == "strict"
    # It remembers the hash of its model, though it has no home.
    assert (service["CacheDirectory"], service["Environment"]) == ("nmspeller", "XDG_CACHE_HOME=%C")


def test_pages_load_only_what_the_package_has():
    web = ROOT / "src" / "nmspeller" / "apps" / "web"
    for page in web.glob("*.html"):
        for address in re.findall(r'(?:src|href)="([^"#]+)"', page.read_text("utf-8")):
            if address.startswith("page/"):
                assert (web / address.removeprefix("page/")).is_file()
            else:
                assert address.startswith("data:") or address in ("docs", "./", "openapi.json")
    for module in web.glob("*.js"):
        for imported in re.findall(r'from "([^"]+)"', module.read_text("utf-8")):
            assert (web / imported).is_file()
