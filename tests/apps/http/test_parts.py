"""A text is checked in parts: with the answer of the whole, and with turns for others in between."""

import asyncio
import json
import threading

import pytest
from fakes import FakeChecker

from nmspeller.apps.http.service import Service
from nmspeller.apps.http.settings import Settings
from nmspeller.apps.http.text_checks import CheckOptions
from nmspeller.apps.http.waiting import ClientGone
from nmspeller.runtime.analysis import Analyzer
from nmspeller.runtime.checker import open_checker
from nmspeller.runtime.rules import RULES

SENTENCES = [
    "今天天汽真好，我和朋友一起去公园玩。",
    "他己是工作三年了！",
    "我门都很高心。。",
    "這裡的平果又大又甜，我門都很高心，大家都說這是最好吃的平果。",
    "没有错误的一句话，只是比别的句子稍微长一点，因为它要让窗口放不下，也要让后面的句子从新的窗口开始。",
    "老板对他的表现非长满意😀，大家也都很高心，还买了三斤平果回家。",
]
CLAUSES = [
    "今天天汽真好",
    "我和朋友一起去公园玩",
    "老板对他的表现非长满意😀",
    "他己是工作三年了",
    "他在https://example.org/我门上写了`我门`和Python代码",
    "我门都很高心",
    "没有错误的一句话只是比别的句子稍微长一点因为它要让窗口在别的地方交接",
]
TRADITIONAL_CLAUSES = [
    "這裡的平果又大又甜",
    "我門都很高心😀",
    "大家都說這是最好吃的",
    "他己經工作三年了",
    "還買了三斤",
]
LONG_TEXTS = {
    "paragraphs": "\n\n".join(SENTENCES * 11),
    "one line": "".join(SENTENCES * 11),
    "clauses": "，".join(CLAUSES * 14),
    "no sign at all": "".join(CLAUSES * 15),
    "traditional without a sign": "".join(TRADITIONAL_CLAUSES * 36),
    "traditional, with lines of either script": "老師說這個問題很長。\n" * 60 + "今天大家都很高心。\n" * 150,
    "code": "我门都很高心。\n" * 100 + "```\n" + "我门\n" * 600 + "```\n" + "我门都很高心。\n" * 100,
}
SHORT_TEXTS = ["", "\n", "我门都很高心。", "  我门  ", "。。", "English only.", *SENTENCES]
RULES_OR_NONE = [(), tuple(RULES)]


class Connection:
    """A request whose client goes away when it is told to."""

    def __init__(self):
        self.scope = {"headers": []}
        self.gone = asyncio.Event()

    async def receive(self):
        await self.gone.wait()
        return {"type": "http.disconnect"}


@pytest.fixture
async def serve():
    """Starts services, and stops them in the end."""
    services = []

    def start(checker):
        service = Service(Settings(time_limit=600), lambda: checker)  # also on a busy machine
        service.start()
        services.append(service)
        return service

    yield start
    for service in services:
        service.stop()


@pytest.fixture(scope="module")
def shipped():
    return open_checker(threads=1)  # tests run side by side


def without_scores(corrections):
    """Company changes the last digits of what an integer model calculates."""
    return [
        (
            correction.text,
            [(edit.offset, edit.source, edit.target, edit.reason, edit.rule) for edit in correction.edits],
            correction.hints,
        )
        for correction in corrections
    ]


async def test_the_service_has_the_answer_of_the_checker(serve, shipped):
    texts = ["".join(SENTENCES * 3), *SHORT_TEXTS]
    rules = tuple(RULES)
    found = await serve(shipped).check(Connection(), texts, CheckOptions(rules=rules))
    expected = shipped.check_many(texts, rules=rules)
    assert sum(len(correction.edits) for correction in expected) > 20
    assert without_scores(found) == without_scores(expected)


@pytest.mark.parametrize("rules", RULES_OR_NONE, ids=["model", "model and rules"])
@pytest.mark.parametrize("text", LONG_TEXTS.values(), ids=LONG_TEXTS)
async def test_so_it_has_with_a_model_that_edits_much_and_depends_on_all_of_its_window(
    serve, eager, text, rules
):
    checker = eager.checker
    found = await serve(checker).check(Connection(), [text], CheckOptions(rules=rules))
    expected = checker.check_many([text], rules=rules)
    assert len(expected[0].edits) > 30
    assert without_scores(found) == without_scores(expected)


@pytest.mark.parametrize("one_document", [False, True])
async def test_parts_come_in_order_and_cover_the_texts(serve, eager, one_document):
    checker = eager.checker
    texts = [*SHORT_TEXTS, *LONG_TEXTS.values(), "", *SHORT_TEXTS]
    options = CheckOptions(rules=tuple(RULES), one_document=one_document)
    parts = [part async for part in serve(checker).check_in_parts(Connection(), texts, options)]
    assert [part.number for part in parts] == sorted(part.number for part in parts)
    for number, text in enumerate(texts):
        bounds = [(part.start, part.stop) for part in parts if part.number == number]
        assert "".join(text[start:stop] for start, stop in bounds) == text
        assert [start for start, _ in bounds] == sorted({start for start, _ in bounds})
    for part in parts:
        for found in (*part.edits, *part.hints):
            assert part.start <= found.offset <= found.stop
            assert found.offset < part.stop or part.stop == len(texts[part.number])
    check = checker.begin(texts, rules=tuple(RULES)) if one_document else None
    whole = (
        check.corrections(checker.read(check.parts))
        if check
        else checker.check_many(texts, rules=tuple(RULES))
    )
    streamed = [edit for part in parts for edit in part.edits]
    assert [(edit.offset, edit.target) for edit in streamed] == [
        (edit.offset, edit.target) for correction in whole for edit in correction.edits
    ]


@pytest.mark.parametrize("between", ["。\n", "😀，", "😀"], ids=["lines", "clauses", "no sign at all"])
@pytest.mark.parametrize("path", ["/v1/check", "/v2/check", "stream"])
def test_long_text_reaches_the_engine_in_several_calls(make_client, path, between):
    checker = FakeChecker()
    client = make_client(checker)
    count = 600
    numbers = [f"{number:03}" for number in range(count)]  # what is repeated would be read once
    text = "".join("我己是很高心" + number + between for number in numbers)
    units = len(between.encode("utf-16-le")) // 2 if path == "/v2/check" else len(between)
    if path == "/v2/check":
        answer = client.post(path, data={"text": text, "language": "zh"}).json()
        offsets = [match["offset"] for match in answer["matches"]]
    elif path == "stream":
        answer = client.post("/v1/check", json={"text": text, "stream": True}).text
        *parts, end = map(json.loads, answer.splitlines())
        assert [part["start"] for part in parts] == [0, *(part["stop"] for part in parts[:-1])]
        assert parts[-1]["stop"] == len(text)
        assert end == {"done": True, "edits": 2 * count}
        offsets = [edit["offset"] for part in parts for edit in part["edits"]]
    else:
        [result] = client.post(path, json={"text": text}).json()["results"]
        assert result["text"] == "".join("我已是很高兴" + number + between for number in numbers)
        offsets = [edit["offset"] for edit in result["edits"]]
    assert offsets == [(9 + units) * number + at for number in range(count) for at in (1, 5)]
    assert len(checker.batches) > 1
    assert max(sum(map(len, texts)) for texts, _ in checker.batches) <= 2_048


@pytest.mark.parametrize("stream", [False, True])
def test_text_that_is_read_twice_counts_once(make_client, stream):
    text = "我己是很高心" * 1_000
    client = make_client(max_text_length=len(text))
    assert client.post("/v1/check", json={"text": text, "stream": stream}).status_code == 200
    assert f"nmspeller_characters_total {len(text)}.0" in client.get("/metrics").text


async def test_others_are_answered_while_a_text_is_analyzed(serve, monkeypatch):
    may_go_on = threading.Event()
    analyze = Analyzer.analyze

    def slowly(analyzer, texts):
        assert texts == ["好"] or may_go_on.wait(10)
        return analyze(analyzer, texts)

    monkeypatch.setattr(Analyzer, "analyze", slowly)
    service = serve(FakeChecker())
    long = asyncio.ensure_future(service.check(Connection(), ["高心" * 200], CheckOptions()))
    await service.check(Connection(), ["好"], CheckOptions())
    assert not long.done()
    may_go_on.set()
    [corrected] = await long
    assert corrected.text == "高兴" * 200


@pytest.mark.parametrize("between", ["。\n", "😀，", ""], ids=["lines", "clauses", "no sign at all"])
async def test_short_text_does_not_wait_for_a_long_one_and_work_of_a_disconnected_client_is_dropped(
    serve, between
):
    checker = FakeChecker(seconds=0.05)
    service = serve(checker)
    client = Connection()
    text = between.join(f"{number}我己是很高心" for number in range(8_000))
    long = asyncio.ensure_future(service.check(client, [text], CheckOptions()))
    while not checker.batches:
        await asyncio.sleep(0.01)
    [short] = await service.check(Connection(), ["高心"], CheckOptions())
    assert short.text == "高兴"
    assert len(checker.batches) < 8  # of about forty
    client.gone.set()
    with pytest.raises(ClientGone):
        await long
    calls = len(checker.batches)
    await asyncio.sleep(0.3)
    assert len(checker.batches) <= calls + 1
