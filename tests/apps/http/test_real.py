"""`nmspeller serve` with the shipped model: together as alone, streamed as whole, and errors."""

import concurrent.futures
import json
import time

import httpx
import pytest

from nmspeller.__main__ import run
from nmspeller.apps.http.server import load_speller
from nmspeller.apps.http.settings import Settings
from nmspeller.runtime.checker import open_checker

SENTENCES = [
    "今天天汽真好，我和朋友一起去公园玩。",
    "他己经工作三年了。",
    "我门都很高心。",
    "這裡的平果又大又甜，我門都很高心。",
    "没有错误的一句话。",
    "English only, 123.",
    "老板对他的表现非长满意😀，大家也都很高心，还买了三斤平果回家。",
]


def check(server, text, **more):
    """As a client asks: once more after a while where the server is too busy."""
    while True:
        # Without certificates, which take longer to read than most answers to come.
        answer = httpx.post(f"{server}/v1/check", json={"text": text, **more}, timeout=120, verify=False)
        if answer.status_code != 429:
            break
        time.sleep(int(answer.headers["Retry-After"]))
    return answer.raise_for_status().json()["results"]


def without_scores(result):
    edits = [
        {name: value for name, value in edit.items() if name not in ("probability", "confidence")}
        for edit in result["edits"]
    ]
    return {**result, "edits": edits}


def test_answers_are_the_same_together_as_alone(real_server):
    alone = [check(real_server, sentence)[0] for sentence in SENTENCES]
    assert sum(len(result["edits"]) for result in alone) >= 5
    with concurrent.futures.ThreadPoolExecutor(28) as pool:
        together = list(pool.map(lambda sentence: check(real_server, sentence)[0], SENTENCES * 4))
    for one, other in zip(alone * 4, together, strict=True):
        assert without_scores(one) == without_scores(other)
        for left, right in zip(one["edits"], other["edits"], strict=True):
            assert left["probability"] == pytest.approx(right["probability"], abs=1e-3)


def test_streamed_answer_is_the_whole_answer(real_server):
    text = "\n".join(SENTENCES * 12)
    [whole] = check(real_server, text)
    answer = httpx.post(f"{real_server}/v1/check", json={"text": text, "stream": True}, timeout=120)
    *parts, end = [json.loads(line) for line in answer.text.splitlines()]
    assert len(parts) > 1
    edits = [edit for part in parts for edit in part["edits"]]
    assert without_scores({"edits": edits}) == without_scores({"edits": whole["edits"]})
    assert end == {"done": True, "edits": len(whole["edits"])}


def test_levels_and_words(real_server):
    text = "我门都很高心。"
    [thorough] = check(real_server, text, level="thorough")
    [careful] = check(real_server, text, level="careful")
    assert len(careful["edits"]) <= len(thorough["edits"])
    [spared] = check(real_server, text, level="thorough", words=["我门", "高心"])
    assert spared["text"] == text


def test_server_can_use_the_prefilter():
    servers = [load_speller(Settings(prefilter=prefilter)) for prefilter in (False, True)]
    whole, quick = (server.model_hash for server in servers)
    assert whole == open_checker().model_hash
    assert quick == open_checker(prefilter=True).model_hash != whole


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--host", "0.0.0.0"], "--api-key"),
        (["--api-key", "s3cret\n"], "line break"),
        (["--model", "no/such/folder"], "no/such/folder"),
        (["--level", "wild"], "wild"),
        (["--words", "no/such/file"], "no/such/file"),
        (["--time-limit", "0"], "--time-limit"),
        (["--time-limit", "inf"], "--time-limit"),
        (["--time-limit", "nan"], "--time-limit"),
        (["--longest-wait", "inf"], "--longest-wait"),
        (["--allow-origin", "example.org"], "--allow-origin"),
        (["--allow-origin", "https://example.org/page"], "--allow-origin"),
        (["--host", "no.such.host.invalid", "--insecure"], "no.such.host.invalid"),
        (["--workers", "0"], "--workers"),
        (["--port", "99999"], "--port"),
    ],
)
def test_command_reports_bad_options_in_one_sentence(arguments, word, capsys, monkeypatch):
    monkeypatch.delenv("NMSPELLER_API_KEY", raising=False)

    def serve_app(make_app, *_):
        make_app()
        pytest.fail("it started")

    monkeypatch.setattr("nmspeller.apps.http.server.serve_app", serve_app)
    assert run(["serve", "--port", "0", *arguments]) == 2
    said = capsys.readouterr().err
    assert word in said
    assert said.startswith("nmspeller: ")
    assert said.count("\n") == 1
