"""`nmspeller lsp` as it is installed, with the shipped model."""

import subprocess
import sys

import pytest

from nmspeller.__main__ import run
from nmspeller.apps.lsp import stdio
from nmspeller.apps.lsp.server import SpellingServer

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_letter_in_markdown_is_corrected(real_editor):
    editor = real_editor
    result = await editor.start(encodings=["utf-8"])
    assert result.server_info.name == "nmspeller"
    text = "# 信😀\n\n`我门` 去年**我门**去外国认识了很多人。\n"
    uri = editor.open("信.md", text, "markdown")
    found = await editor.diagnostics(uri)
    assert "门" in editor.found(uri, found)

    (action,) = await editor.actions(uri, 0, only=["source.fixAll"])
    assert "**我们**" in editor.apply(uri, action)
    assert "`我门`" in editor.apply(uri, action)

    editor.replace(uri, text.rindex("门"), text.rindex("门") + 1, "们")
    assert "门" not in editor.found(uri, await editor.diagnostics(uri))


async def test_the_option_stdio_is_accepted():
    done = subprocess.run(
        [sys.executable, "-m", "nmspeller", "lsp", "--stdio"], input=b"", capture_output=True, timeout=180
    )
    assert done.returncode == 1  # the editor disconnected without a shutdown
    assert done.stdout == b""


@pytest.mark.parametrize("options", [[], ["--prefilter"]])
async def test_the_prefilter_is_an_option_of_the_command(options, monkeypatch):
    calls = []
    monkeypatch.setattr(stdio, "serve", lambda make, *, prefilter: calls.append(prefilter) or 0)
    assert run(["lsp", *options]) == 0
    assert calls == [bool(options)]


async def test_the_editors_setting_wins_over_the_option_of_the_command():
    server = SpellingServer(lambda model, **options: None, prefilter=True)
    server.initialize(None)
    assert server.settings.prefilter
    server.initialize({"prefilter": False})
    assert not server.settings.prefilter
