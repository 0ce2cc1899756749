"""A real Chromium, where there is one."""

import shutil

import pytest

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    # One process draws all pages: to start another takes longer than to draw most.
    "--renderer-process-limit=1",
    "--disable-site-isolation-trials",
    "--in-process-gpu",
)


# Playwright keeps an event loop running, beside which no test of coroutines can run: it ends with its module.
@pytest.fixture(scope="module")
def browser():
    # The same engine without the windows around it takes little more than half of the time.
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if not chromium:
        pytest.skip("there is no Chromium here (Debian: apt install chromium-headless-shell)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
        yield browser
        browser.close()
