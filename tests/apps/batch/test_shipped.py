"""A job with the shipped model writes what `Speller` says of each text alone, whatever came before it."""

import json

import pytest

from nmspeller.apps.batch import SpellerSettings, Write
from nmspeller.runtime.speller import Speller

pytestmark = pytest.mark.slow

TEXTS = [
    "我门去外国可以认识很多的人。",
    "今天的天汽真好。",
    "他们己经来了，正在等你。",
    "我门去外国可以认识很多的人。",
    "这是一个没有错误的句子，比上面的都要长一些，好让它和别的句子不在一批里。",
    "Only English here, and 𠮷 and 😀.",
    "",
    "再见！",
]


@pytest.mark.parametrize("cache", [0, 100])
def test_a_job_writes_the_edits_of_the_speller(correct, cache):
    rows = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in TEXTS)
    written, _ = correct(
        {"a.jsonl": rows.encode()}, speller=SpellerSettings(), write=Write.BOTH, cache=cache, shard_bytes=200
    )
    speller = Speller(threads=1)
    for line, text in zip(written["a.jsonl"].decode().splitlines(), TEXTS, strict=True):
        row, correction = json.loads(line), speller.check(text)
        assert row["text"] == correction.text
        edits = [(edit["offset"], edit["source"], edit["target"]) for edit in row["text_edits"]]
        assert edits == [(edit.offset, edit.source, edit.target) for edit in correction.edits]
        assert [(edit["probability"], edit["confidence"]) for edit in row["text_edits"]] == [
            (round(edit.probability, 4), round(edit.confidence, 4)) for edit in correction.edits
        ]
