"""What every door must hold, with the shipped model: Python, commands, batch, HTTP, LanguageTool and editor.

The page shows what HTTP answers, see `web/test_agreement.py`.
"""

import io
import json
import time
from contextlib import nullcontext
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import pytest
from fastapi.testclient import TestClient
from rich.console import Console

from nmspeller import Speller, check_file
from nmspeller.__main__ import run
from nmspeller.apps.batch import BatchJob, SpellerSettings, Write
from nmspeller.apps.batch import run as run_batch
from nmspeller.apps.batch.worker import ShardWorker
from nmspeller.apps.check_review.screen import Screen
from nmspeller.apps.check_review.session import Session
from nmspeller.apps.cli import job, reviewing
from nmspeller.apps.documents.prose import passages
from nmspeller.apps.http.app import create_app
from nmspeller.apps.http.settings import Settings
from nmspeller.apps.lsp.findings import Prose, batches, place
from nmspeller.runtime.policy import Level

RULES = ("spelling", "typography")
LONG = "大家看到了了他做事按步就班我门都很高心他己经走的很远，，" * 12


class Found(NamedTuple):
    """A finding; LanguageTool's protocol has no confidence."""

    offset: int
    source: str
    target: str
    confidence: float | None = None


@pytest.fixture(scope="module")
def speller():
    return Speller(threads=1, rules=RULES)


def of_edits(edits):
    return [Found(edit.offset, edit.source, edit.target, edit.confidence) for edit in edits]


def of_json(edits):
    return [Found(edit["offset"], edit["source"], edit["target"], edit["confidence"]) for edit in edits]


@pytest.fixture(scope="module")
def python(speller):
    return lambda text: of_edits(speller.check(text).edits)


@pytest.fixture
def document(speller, tmp_path):
    def check(text):
        (tmp_path / "a.txt").write_text(text, "utf-8")
        return of_edits(check_file(tmp_path / "a.txt", speller).edits)

    return check


@pytest.fixture
def command(speller, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(job, "load_speller", lambda *_, **__: speller.checker)

    def check(text):
        (tmp_path / "a.txt").write_text(text, "utf-8")
        run(["check", "-o", "json", str(tmp_path / "a.txt")])
        return of_json(json.loads(capfd.readouterr().out)["edits"])

    return check


class Skipping(nullcontext):
    """The keyboard of somebody who skips every finding."""

    def key(self, seconds=0):
        time.sleep(seconds)
        return "s"


class Shown(Screen):
    """Keeps the edits that are asked about."""

    def __init__(self):
        super().__init__(Console(file=io.StringIO()))
        self.edits = []

    def finding(self, text, one, candidates, number):
        self.edits.append(one.edit)


@pytest.fixture
def review(speller, tmp_path, monkeypatch):
    monkeypatch.setattr(job, "load_speller", lambda *_, **__: speller.checker)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(reviewing.signal, "signal", lambda *_: None)  # it would outlive the test

    def check(text):
        shown = Shown()
        monkeypatch.setattr(reviewing, "Session", partial(Session, keyboard=Skipping(), screen=shown))
        (tmp_path / "a.txt").write_text(text, "utf-8")
        run(["review", str(tmp_path / "a.txt")])
        return of_edits(shown.edits)

    return check


@pytest.fixture
def batch(speller, tmp_path, monkeypatch):
    monkeypatch.setattr(SpellerSettings, "load", lambda _: speller.checker)

    class Here:
        def correct(self, order, shards, stop):
            yield from map(ShardWorker(order).correct, shards)

    def check(text):
        (tmp_path / "a.jsonl").write_text(json.dumps({"text": text}) + "\n")
        order = BatchJob((str(tmp_path / "a.jsonl"),), str(tmp_path / "out"), write=Write.EDITS)
        run_batch(order, Here(), cache=0)
        return of_json(json.loads((tmp_path / "out" / "a.jsonl").read_text("utf-8"))["text_edits"])

    return check


@pytest.fixture(scope="module")
def client(speller):
    with TestClient(create_app(Settings(rules=RULES), lambda: speller.checker), "http://localhost") as client:
        yield client


@pytest.fixture
def http(client):
    def check(text):
        answer = client.post("/v1/check", json={"text": text})
        return of_json(answer.json()["results"][0]["edits"])

    return check


@pytest.fixture
def upload(client):
    def check(text):
        answer = client.post("/v1/files", files={"file": ("a.txt", text.encode())})
        return of_json(answer.json()["edits"])

    return check


@pytest.fixture
def languagetool(client):
    def check(text):
        enabled = "NMSPELLER_DOUBLED_PUNCTUATION,NMSPELLER_HALF_WIDTH_PUNCTUATION"
        asked = {"text": text, "language": "zh", "enabledRules": enabled}
        answer = client.post("/v2/check", data=asked)
        return [
            Found(start, text[start : start + one["length"]], one["replacements"][0]["value"])
            for one in answer.json()["matches"]
            for start in (one["offset"],)
        ]

    return check


@pytest.fixture(scope="module")
def editor(speller):
    def check(text):
        found = passages(text, "text")
        prose = Prose(found, speller.checker.begin([passage.text for passage in found]))
        read = {}
        for some in batches(prose.check.parts):
            read.update(zip(some, speller.checker.read(some), strict=True))
        findings, _ = place(text, prose, read)
        return of_edits(finding.edit for finding in findings)

    return check


DOORS = ["python", "document", "command", "review", "batch", "http", "upload", "languagetool", "editor"]


@pytest.fixture(params=DOORS)
def door(request):
    """What finds errors in a text, by one way into the program."""
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我很高心。。他门走了。", [(3, "心", "兴"), (4, "。。", "。"), (7, "门", "们")]),
        ("我很高心，，他门走了!", [(3, "心", "兴"), (4, "，，", "，"), (7, "门", "们"), (10, "!", "！")]),
        ("我很高心, 他门走了。", [(3, "心", "兴"), (4, ", ", "，"), (7, "门", "们")]),
    ],
)
def test_neighbours_of_rules_and_model_are_both_found(door, text, found):
    assert [one[:3] for one in door(text)] == found


def test_no_replacement_doubles_a_character(door):
    text = "今天我门们去公园玩。。"
    for one in reversed(door(text)):
        text = text[: one.offset] + one.target + text[one.offset + len(one.source) :]
    assert text == "今天我们去公园玩。"


@pytest.mark.parametrize("end", ["。", "。。", "？", "?"])
def test_the_model_reads_what_the_rules_leave(door, end):
    assert (5, "的", "地") in [one[:3] for one in door(f"孩子们开心的笑了{end}")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("网络与網絡混用，我门都很帅。", [(9, "门", "们")]),
        ("網絡與网络混用，我門都很帥，老师也來了。", [(9, "門", "們")]),
    ],
    ids=["Simplified", "Traditional"],
)
def test_what_is_offered_has_the_script_of_the_text(door, text, found):
    assert [one[:3] for one in door(text)] == found


def test_findings_of_a_long_text_are_in_order_apart_and_as_confident_as_was_tested(speller, door):
    found = door(LONG)
    assert len(found) > LONG.count("我门")
    for one, other in pairwise(found):
        assert one.offset + len(one.source) <= other.offset
    least = speller.checker.model.policy.levels[Level.BALANCED]
    for one in found:
        assert LONG[one.offset :].startswith(one.source)
        assert one.confidence is None or one.confidence >= min(least.explained, least.unexplained)
