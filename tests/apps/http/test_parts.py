"""A long text is checked in parts: with the answer of the whole, and with turns for others in between."""

import asyncio
import json
import random
import threading
from dataclasses import replace

import pytest
from fakes import FakeChecker
from nmspeller.runtime.parts import Part, split_into_parts

from nmspeller import Speller
from nmspeller.apps.http.engine_queue import CheckOptions
from nmspeller.apps.http.service import ClientGone, Service
from nmspeller.apps.http.settings import Settings
from nmspeller.runtime.correction import Edit, Reason
from nmspeller.text.protect import protected_spans
from nmspeller.text.windows import split

SENTENCES = [
    "今天天汽真好，我和朋友一起去公园玩。",
    "他己经工作三年了！",
    "我门都很高心。",
    "這裡的平果又大又甜，我門都很高心，大家都說這是最好吃的平果。",
    "没有错误的一句话，只是比别的句子稍微长一点，因为它要让窗口放不下，也要让后面的句子从新的窗口开始。",
    "老板对他的表现非长满意😀，大家也都很高心，还买了三斤平果回家。",
]
WINDOW = 126


CLAUSES = [
    "今天天汽真好",
    "我和朋友一起去公园玩",
    "老板对他的表现非长满意😀",
    "他己经工作三年了",
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
    "paragraphs": "\n\n".join((SENTENCES * 11)[:64]),
    "one line": "".join((SENTENCES * 11)[:64]),
    "clauses": "，".join(CLAUSES * 14),
    "no sign at all": "".join(CLAUSES * 15),
    "traditional without a sign": "".join(TRADITIONAL_CLAUSES * 36),
    "traditional, with lines of either script": "老師說這個問題很長。\n" * 60 + "今天大家都很高心。\n" * 150,
}


class Connection:
    """A request whose client goes away when it is told to."""

    def __init__(self):
        self.scope = {"headers": []}
        self.gone = asyncio.Event()

    async def receive(self):
        await self.gone.wait()
        return {"type": "http.disconnect"}


@pytest.fixture(scope="module")
def speller():
    return Speller(threads=1)  # tests run side by side


async def test_parts_have_the_answer_of_the_whole(speller):
    await assert_parts_have_the_answer_of_the_whole(speller, LONG_TEXTS["one line"])


@pytest.mark.parametrize("text", [text * 4 for text in LONG_TEXTS.values()], ids=LONG_TEXTS)
async def test_so_they_have_with_a_model_that_edits_much_and_depends_on_all_of_its_window(eager, text):
    await assert_parts_have_the_answer_of_the_whole(eager, text)


async def assert_parts_have_the_answer_of_the_whole(speller, text):
    parts = split_into_parts(text, speller.window)
    assert len(parts) > 1
    assert max(len(part.text) for part in parts) < 1_800
    service = Service(Settings(time_limit=600), lambda: speller)  # also on a busy machine
    service.start()
    [joined] = await service.check(Connection(), [text], CheckOptions())
    service.stop()
    whole = speller.check(text)
    assert len(whole.edits) > 30
    assert joined.text == whole.text
    assert [(edit.offset, edit.source, edit.target, edit.reason) for edit in joined.edits] == [
        (edit.offset, edit.source, edit.target, edit.reason) for edit in whole.edits
    ]


@pytest.mark.parametrize("seed", range(40))
def test_parts_are_read_through_the_windows_of_the_whole(seed):
    dice = random.Random(seed)
    signs = ["。！？；\n", "。", "，", "，，，，，，。", "，!?", "", "，\n", "。」…"][seed % 8]
    text = "".join("字" * dice.randrange(1, 90) + dice.choice(signs or [""]) for _ in range(300))
    parts = split_into_parts(text, WINDOW)
    assert len(parts) > 5
    read = [
        (part, [part.start + bound for bound in window])
        for part in parts
        for window in split(part.text, WINDOW)
    ]
    kept = [window for part, window in read if part.keep_start <= window[2] < part.keep_stop]
    assert [window[:3] for window in kept] == [list(window[:3]) for window in split(text, WINDOW)]


DENSE = {
    "letters": "a" * 20_000,
    "prose and Latin": "我们use这个library写code" * 1_000,
    "code": "`print(我门)`写" * 2_000,
    "addresses with question marks": "见https://example.org/c?e=f 吧" * 1_000,
    "mathematics": "因为$\\text{我门}+1$所以" * 1_000,
}


@pytest.mark.parametrize("text", DENSE.values(), ids=DENSE)
def test_text_with_dense_protected_spans_is_cut_too(text):
    parts = split_into_parts(text, WINDOW)
    assert "".join(text[part.keep_start : part.keep_stop] for part in parts) == text
    assert all(part.text == text[part.start : part.start + len(part.text)] for part in parts)
    assert max(len(part.text) for part in parts) < 2_048
    closed = [span for span in protected_spans(text) if span.kind not in ("latin", "number")]
    for part in parts:
        borders = {part.start, part.start + len(part.text)}
        assert not any(span.start < border < span.stop for span in closed for border in borders)


def test_block_of_code_is_not_cut():
    code = "```\n" + "我门\n" * 600 + "```\n"
    text = "我门都很高心。\n" * 200 + code + "我门都很高心。\n" * 200
    assert any(code in part.text for part in split_into_parts(text, WINDOW))


def test_long_names_of_the_users_list_are_seen_whole():
    names = [chr(0x4E00 + number) * 64 for number in range(300)]
    parts = split_into_parts("".join(names), WINDOW)
    assert len(parts) > 10
    for number, name in enumerate(names):
        start, stop = 64 * number, 64 * number + 64
        own = [part for part in parts if part.keep_start < stop and start < part.keep_stop]
        assert own
        assert all(name in part.text for part in own)


def test_edit_over_a_border_is_made_once():
    edit = Edit(9, 2, "借少", "介绍", 0.97, (), Reason.SAME_SOUND)
    text = "一二三四五六七八九借少一二三四五六七八九"
    before, after = Part(0, text, 0, 10), Part(0, text, 10, 20)
    assert before.own_edits([edit], 0) == (edit,)
    assert after.own_edits([edit], 11) == ()
    # Should the second part see only half of it, the first has had the say.
    half = replace(edit, offset=10, length=1, source="少", target="绍")
    assert after.own_edits([half], 11) == ()
    assert after.own_edits([half], 10) == (half,)


def test_short_and_empty_texts_stay_whole():
    text = "高心。\n高心。"
    assert split_into_parts(text, WINDOW) == [Part(0, text, 0, len(text))]
    assert split_into_parts("", WINDOW) == []


@pytest.mark.parametrize("between", ["。\n", "😀，", "😀"], ids=["lines", "clauses", "no sign at all"])
@pytest.mark.parametrize("path", ["/v1/check", "/v2/check", "stream"])
def test_long_text_reaches_the_engine_in_parts(make_client, path, between):
    checker = FakeChecker()
    client = make_client(checker)
    count = 600
    text = ("我己经很高心" + between) * count
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
        assert result["text"] == ("我已经很高兴" + between) * count
        offsets = [edit["offset"] for edit in result["edits"]]
    assert offsets == [(6 + units) * number + at for number in range(count) for at in (1, 5)]
    assert max(sum(map(len, texts)) for texts, _, _ in checker.batches) <= 2_048


@pytest.mark.parametrize("stream", [False, True])
def test_text_that_is_read_twice_counts_once(make_client, stream):
    text = "我己经很高心" * 1_000
    client = make_client(max_text_length=len(text))
    assert client.post("/v1/check", json={"text": text, "stream": stream}).status_code == 200
    assert f"nmspeller_characters_total {len(text)}.0" in client.get("/metrics").text


async def test_others_are_answered_while_a_text_is_cut(monkeypatch):
    may_go_on = threading.Event()

    def slowly(text, window):
        assert text == "好" or may_go_on.wait(10)
        return split_into_parts(text, window)

    monkeypatch.setattr("nmspeller.apps.http.service.split_into_parts", slowly)
    service = Service(Settings(), FakeChecker)
    service.start()
    long = asyncio.ensure_future(service.check(Connection(), ["高心"], CheckOptions()))
    await service.check(Connection(), ["好"], CheckOptions())
    assert not long.done()
    may_go_on.set()
    [corrected] = await long
    assert corrected.text == "高兴"
    service.stop()


@pytest.mark.parametrize("between", ["。\n", "😀，", ""], ids=["lines", "clauses", "no sign at all"])
async def test_short_text_does_not_wait_for_a_long_one_and_work_of_a_disconnected_client_is_dropped(between):
    checker = FakeChecker(seconds=0.05)
    service = Service(Settings(), lambda: checker)
    service.start()
    client = Connection()
    long = asyncio.ensure_future(service.check(client, [("我己经很高心" + between) * 10_000], CheckOptions()))
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
    service.stop()
