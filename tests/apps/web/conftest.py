"""Pages in a real Chromium, and servers for it to look at."""

import importlib.util
import os
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from tests import chromium

_spec = importlib.util.spec_from_file_location(
    "http_conftest", Path(__file__).parents[1] / "http" / "conftest.py"
)
_servers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_servers)
fakes, servers_of_fakes = _servers.fakes, _servers.servers_of_fakes
start_fake_server, real_server = _servers.start_fake_server, _servers.real_server
browser = chromium.browser

sys.path.insert(0, str(Path(__file__).parent))
from looking import wait_until_ready  # noqa: E402

SCREENSHOTS = Path(__file__).parents[3] / "docs" / "screenshots"


@pytest.fixture(scope="session")
def fake_server(servers_of_fakes, tmp_path_factory):
    """The address of a server around a fake speller."""
    with servers_of_fakes(tmp_path_factory.mktemp("fake")) as start:
        yield start(model="nowhere").address


class Contexts:
    """The contexts of a browser, used again by later tests: to make one takes longer than most of them."""

    def __init__(self, browser):
        self._browser = browser
        self._free = defaultdict(list)
        self._taken = []

    def new_page(self, address, *, locale, is_phone):
        """A page in a context that no other page of this test has, with nothing stored for the address."""
        free = self._free[locale, is_phone]
        context = free.pop() if free else self._make(locale, is_phone)
        self._taken.append((context, free))
        page = context.new_page()
        context.clear_cookies()
        stored = {"origin": address, "storageTypes": "all"}
        context.new_cdp_session(page).send("Storage.clearDataForOrigin", stored)
        return page

    def _make(self, locale, is_phone):
        context = self._browser.new_context(
            locale=locale, device_scale_factor=2 if is_phone else 1, has_touch=is_phone
        )
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.new_page()  # stays open: with its last page a context closes its window too
        return context

    def close_pages(self):
        """The end of a test."""
        for context, free in self._taken:
            for page in context.pages[1:]:
                page.close()
            free.append(context)
        self._taken.clear()


@pytest.fixture(scope="module")
def contexts(browser):
    return Contexts(browser)


@pytest.fixture
def open_page(contexts):
    """Open a server's page; the test fails if it reports an error or asks anyone but its own server."""
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
        page = contexts.new_page(address, locale=locale, is_phone=width < 600)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(
            color_scheme="dark" if dark else "light", reduced_motion="reduce" if still else "no-preference"
        )
        page.add_init_script(script)
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
    contexts.close_pages()
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
