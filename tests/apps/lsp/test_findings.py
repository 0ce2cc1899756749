"""How a passage is cut into the parts that are checked, and how their edits become findings."""

from itertools import pairwise

from nmspeller.apps.documents.prose import passages
from nmspeller.apps.lsp.findings import cut, place
from nmspeller.runtime.correction import Edit, Reason

WINDOW = 126


def test_a_long_passage_is_checked_sentence_by_sentence():
    [passage] = passages("".join(f"这是第{number}句话。" for number in range(300)), "text")
    parts = cut(passage, WINDOW).parts
    assert [part.text for part in parts] == [f"这是第{number}句话。" for number in range(300)]


def test_a_short_passage_is_checked_whole():
    [passage] = passages("这是一句话。这是另一句话。", "text")
    assert [part.text for part in cut(passage, WINDOW).parts] == [passage.text]


def test_parts_of_a_sentence_without_an_end_overlap():
    [passage] = passages("第一句话。" + "这句话没有个完" * 1_000, "text")
    first, *parts = cut(passage, WINDOW).parts
    assert first.text == "第一句话。"
    assert len(parts) > 3
    for before, after in pairwise(parts):
        assert before.keep_stop == after.keep_start
        assert before.start + len(before.text) >= before.keep_stop + WINDOW // 8
        assert after.start <= after.keep_start - WINDOW // 8


def test_an_edit_in_an_overlap_is_found_once():
    text = "这句话没有个完" * 1_000
    [passage] = passages(text, "text")
    prose = cut(passage, WINDOW)
    places = [at for at, character in enumerate(text) if character == "个"]
    known = {
        part.text: [
            Edit(at, 1, "个", "各", 0.9, (), Reason.SIMILAR_SOUND)
            for at, character in enumerate(part.text)
            if character == "个"
        ]
        for part in prose.parts
    }
    assert [finding.start for finding in place(text, [prose], known)] == places
