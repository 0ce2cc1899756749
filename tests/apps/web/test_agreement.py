"""The page finds what the command finds: rules and model are put together in one place, by the server."""

import json
import subprocess
import sys

import pytest
from looking import marked, text, wait_until_checked

TEXTS = {
    "a rule between two edits of the model": "我很高心。。他门走了。",
    "marks that rules mend and two scripts": "孩子们开心的笑了。。网络与網絡混用，我门都很帅!",
    "a rule and the model at one place": "他默守成规，大家都说他做的的对。",
    "a quotation over two paragraphs": "他说：“今天我很高心。\n明天也会来。”",
    "a quotation that does not end": "他说：“今天我很高心。\n明天也会来。\n",
    "blanks, half-width marks and an emoji": "😀我 很高心,他门走了!\n\n　　第二段也有错别子。。",
}


@pytest.fixture(scope="module")
def said_by_the_command(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    (folder / ".nmspeller.toml").write_text('rules = ["spelling", "typography"]\n', "utf-8")
    for number, content in enumerate(TEXTS.values()):
        (folder / f"{number}.txt").write_bytes(content.encode())
    command = [sys.executable, "-m", "nmspeller", "check", str(folder), "-o", "json"]
    said = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    return {result["text"]: result for result in map(json.loads, said.stdout.splitlines())}


@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS)
def test_page_and_command_agree(open_page, real_server, said_by_the_command, content):
    said = said_by_the_command[content]
    found = sorted(said["edits"] + said["hints"], key=lambda one: (one["offset"], one["length"]))
    assert found
    page = open_page(real_server)
    page.fill("#text", content)
    wait_until_checked(page, len(found))
    assert marked(page) == [one["source"] for one in found]
    page.click("#accept-all")
    assert text(page) == said["corrected"]
