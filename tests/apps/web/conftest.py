"""A real Chromium, where there is one, and servers for it to look at."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location(
    "http_conftest", Path(__file__).parents[1] / "http" / "conftest.py"
)
_servers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_servers)
fakes, servers_of_fakes = _servers.fakes, _servers.servers_of_fakes
start_fake_server, real_server = _servers.start_fake_server, _servers.real_server

sys.path.insert(0, str(Path(__file__).parent))
from looking import wait_until_ready  # noqa: E402

SCREENSHOTS = Path(__file__).parents[3] / "docs" / "screenshots"
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)


@pytest.fixture(scope="session")
def fake_server(servers_of_fakes, tmp_path_factory):
    """The address of a server around a fake speller."""
    with servers_of_fakes(tmp_path_factory.mktemp("fake")) as start:
        yield start(model="nowhere").address


# Playwright keeps an event loop running, beside which no test of coroutines can run: it ends with its module.
@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("there is no Chromium here (Debian: apt install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Open a server's page; the test fails if it reports an error or asks anyone but its own server."""
    contexts = []
    complaints = []

    def open_(
        address,
        *,
        width=1280,
        height=800,
        dark=False,
        still=False,
        locale="zh-CN",
        path="/",
        script="",
        allow_errors=False,
    ):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            locale=locale,
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if still else "no-preference",
            device_scale_factor=2 if width < 600 else 1,
            has_touch=width < 600,
        )
        context.add_init_script(script)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        if not allow_errors:
            page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((address, "data:"))
                else complaints.append(f"asked {request.url}")
            ),
        )
        page.goto(f"{address}{path}")
        wait_until_ready(page)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def screenshot():
    """Keep a picture for the docs when asked to (NMSPELLER_SCREENSHOTS=1); otherwise only take it."""

    def take(page, name):
        page.wait_for_timeout(250)
        keep = os.environ.get("NMSPELLER_SCREENSHOTS")
        picture = page.screenshot(path=SCREENSHOTS / f"{name}.png" if keep else None)
        assert len(picture) > 10_000

    return take
