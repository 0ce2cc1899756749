"""How a passage is cut into the parts that are checked, and how their edits become findings."""

from itertools import pairwise

from nmspeller.apps.documents.prose import passages
from nmspeller.apps.lsp.findings import Prose, cut, place
from nmspeller.runtime.correction import Edit, Reason
from nmspeller.runtime.rules import RuleMatch

WINDOW = 126


def test_a_long_passage_is_checked_sentence_by_sentence():
    [passage] = passages("".join(f"这是第{number}句话。" for number in range(300)), "text")
    parts = cut(passage, WINDOW)
    assert [part.text for part in parts] == [f"这是第{number}句话。" for number in range(300)]


def test_a_short_passage_is_checked_whole():
    [passage] = passages("这是一句话。这是另一句话。", "text")
    assert [part.text for part in cut(passage, WINDOW)] == [passage.text]


def test_parts_of_a_sentence_without_an_end_overlap():
    [passage] = passages("第一句话。" + "这句话没有个完" * 1_000, "text")
    first, *parts = cut(passage, WINDOW)
    assert first.text == "第一句话。"
    assert len(parts) > 3
    for before, after in pairwise(parts):
        assert before.keep_stop == after.keep_start
        assert before.start + len(before.text) >= before.keep_stop + WINDOW // 8
        assert after.start <= after.keep_start - WINDOW // 8


def test_an_edit_in_an_overlap_is_found_once():
    text = "这句话没有个完" * 1_000
    [passage] = passages(text, "text")
    prose = Prose(passage, cut(passage, WINDOW), matches=[])
    places = [at for at, character in enumerate(text) if character == "个"]
    known = {
        part.text: [
            Edit(at, 1, "个", "各", 0.9, (), Reason.SIMILAR_SOUND)
            for at, character in enumerate(part.text)
            if character == "个"
        ]
        for part in prose.parts
    }
    findings, hints = place(text, [prose], known)
    assert [finding.start for finding in findings] == places
    assert not hints


def test_fixes_and_hints_of_rules_are_placed_in_the_document_and_give_way_to_the_model():
    text = "我很**高心**了了，张林说。"
    [passage] = passages(text, "markdown")
    assert passage.text == "我很高心了了，张林说。"
    edit = Edit(3, 1, "心", "兴", 0.9, (), Reason.SIMILAR_SOUND)
    matches = [
        RuleMatch(2, 2, "高心", "高兴", "idiom"),
        RuleMatch(5, 1, "了", "", "doubled_character"),
        RuleMatch(7, 2, "张林", None, "name_variants"),
    ]
    findings, [hint] = place(text, [Prose(passage, cut(passage, WINDOW), matches)], {passage.text: [edit]})
    assert [(text[one.start : one.stop], one.edit.target) for one in findings] == [("心", "兴"), ("了", "")]
    assert (hint.source, text[hint.offset : hint.offset + hint.length]) == ("张林", "张林")
