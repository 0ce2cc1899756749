"""A long text is checked in parts: with the answer of the whole, and with turns for others in between."""

import asyncio
import random

import pytest
from fakes import FakeChecker

from nmspeller import Speller
from nmspeller.apps.http.batching import Manner
from nmspeller.apps.http.parts import join_parts, split_into_parts
from nmspeller.apps.http.service import ClientGone, Service
from nmspeller.apps.http.settings import Settings
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


@pytest.fixture(scope="module")
def speller():
    return Speller()


@pytest.mark.parametrize("between", ["\n\n", ""], ids=["paragraphs", "one line"])
def test_parts_have_the_answer_of_the_whole(speller, between):
    text = between.join((SENTENCES * 11)[:64])
    parts = split_into_parts(text, WINDOW)
    assert "".join(part.text for part in parts) == text
    assert len(parts) > 1
    assert max(len(part.text) for part in parts) < 1_500
    joined = join_parts(text, [(part.start, speller.check(part.text)) for part in parts])
    whole = speller.check(text)
    assert len(whole.edits) > 30
    assert joined.text == whole.text
    assert [(edit.offset, edit.source, edit.target, edit.reason) for edit in joined.edits] == [
        (edit.offset, edit.source, edit.target, edit.reason) for edit in whole.edits
    ]


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_read_through_the_windows_of_the_whole(seed):
    dice = random.Random(seed)
    ends = "。！？；\n" if seed % 2 else "。"
    text = "".join("字" * dice.randrange(1, 90) + dice.choice(ends) for _ in range(300))
    parts = split_into_parts(text, WINDOW)
    assert len(parts) > 5
    read = [[part.start + bound for bound in window] for part in parts for window in split(part.text, WINDOW)]
    assert read == [list(window) for window in split(text, WINDOW)]


def test_nothing_protected_is_cut():
    code = "```\n" + "我门\n" * 600 + "```\n"
    text = "我门都很高心。\n" * 200 + code + "我门都很高心。\n" * 200
    assert any(code in part.text for part in split_into_parts(text, WINDOW))


def test_short_and_empty_texts_stay_whole():
    assert [tuple(part) for part in split_into_parts("高心。\n高心。", WINDOW)] == [(0, "高心。\n高心。")]
    assert split_into_parts("", WINDOW) == []


@pytest.mark.parametrize("path", ["/v1/check", "/v2/check"])
def test_long_text_reaches_the_engine_in_parts(make_client, path):
    checker = FakeChecker()
    client = make_client(checker)
    text = "我己经很高心。\n" * 1_500
    if path == "/v1/check":
        [result] = client.post(path, json={"text": text}).json()["results"]
        assert result["text"] == "我已经很高兴。\n" * 1_500
        offsets = [edit["offset"] for edit in result["edits"]]
    else:
        answer = client.post(path, data={"text": text, "language": "zh"}).json()
        offsets = [match["offset"] for match in answer["matches"]]
    assert offsets == [8 * line + at for line in range(1_500) for at in (1, 5)]
    assert max(sum(map(len, texts)) for texts, _, _ in checker.batches) <= 2_048


class Connection:
    """A request whose client goes away when it is told to."""

    def __init__(self):
        self.scope = {}
        self.gone = asyncio.Event()

    async def receive(self):
        await self.gone.wait()
        return {"type": "http.disconnect"}


async def test_short_text_does_not_wait_for_a_long_one_and_a_vanished_client_costs_nothing():
    checker = FakeChecker(seconds=0.05)
    service = Service(Settings(), lambda: checker)
    service.start()
    client = Connection()
    long = asyncio.ensure_future(service.check(client, ["我己经很高心。\n" * 10_000], Manner()))
    while not checker.batches:
        await asyncio.sleep(0.01)
    [short] = await service.check(Connection(), ["高心"], Manner())
    assert short.text == "高兴"
    assert len(checker.batches) < 8  # of about forty
    client.gone.set()
    with pytest.raises(ClientGone):
        await long
    calls = len(checker.batches)
    await asyncio.sleep(0.3)
    assert len(checker.batches) <= calls + 1
    service.stop()
