"""Decisions of a review: any order of keys, undone or interrupted, gives a text that the user asked for."""

from hypothesis import given
from hypothesis import strategies as st
from scripted_speller import ScriptedSpeller

from nmspeller.apps.check_review.decisions import Carried, Decisions, Kind
from nmspeller.runtime.correction import apply_edits

WORDS = st.sampled_from(["我门", "他门", "天汽", "公圆", "借少", "很好", "，", "。", "\n", "😀"])
TEXTS = st.lists(WORDS, max_size=30).map("".join)
KEYS = st.lists(st.sampled_from([*Kind, "undo", "own"]), max_size=40)


def decided(text, keys, earlier=()):
    decisions = Decisions(text, Carried(), earlier)
    decisions.add(ScriptedSpeller().edits(text))
    for key in keys:
        index = decisions.next_open()
        if key == "undo":
            decisions.undo()
        elif index is None:
            break
        elif key == "own":
            decisions.take(Kind.ACCEPT, index, "换掉")
        else:
            one = decisions.findings[index]
            texts = {Kind.ACCEPT: one.target, Kind.ADD_WORD: one.source}
            decisions.take(key, index, texts.get(key, ""))
    return decisions


@given(TEXTS, KEYS)
def test_only_accepted_findings_are_changed(text, keys):
    decisions = decided(text, keys)
    pieces, end = [], 0
    for index, one in enumerate(decisions.findings):
        replacement = decisions.accepted.get(index, one.source)
        pieces += (text[end : one.offset], replacement)
        end = one.offset + one.length
    assert apply_edits(text, decisions.edits()) == "".join((*pieces, text[end:]))


@given(TEXTS, KEYS)
def test_undoing_everything_leaves_nothing(text, keys):
    decisions = decided(text, keys)
    while decisions.undo():
        pass
    assert decisions.edits() == decisions.words == decisions.kept == []
    assert decisions.next_open() == (0 if decisions.findings else None)


@given(TEXTS, KEYS)
def test_an_interrupted_review_goes_on_where_it_was(text, keys):
    before = decided(text, keys)
    after = decided(text, [], earlier=before.kept)
    assert after.edits() == before.edits()
    assert after.next_open() == before.next_open()
    assert after.carried == before.carried


@given(TEXTS, KEYS, TEXTS)
def test_decisions_apply_to_no_other_place_of_a_changed_text(text, keys, added):
    before = decided(text, keys)
    changed = f"{added}\n\n{text}"
    after = decided(changed, [], earlier=before.kept)
    chosen = {(decision.finding, decision.text) for decision in before.kept}
    for index, replacement in after.accepted.items():
        one = after.findings[index]
        assert changed[one.offset : one.offset + one.length] == one.source
        assert any(mark.source == one.source and replacement == text for mark, text in chosen)
    assert len(after.accepted) <= len(before.accepted)


@given(TEXTS, KEYS)
def test_what_is_ignored_is_still_known_after_the_accepted_is_written(text, keys):
    before = decided(text, [key for key in keys if key != "own"])
    written = apply_edits(text, before.edits())
    after = decided(written, [], earlier=before.after_writing())
    assert after.edits() == []
    ignored = [decision for decision in before.kept if decision.kind is Kind.IGNORE]
    assert sum(decision.kind is Kind.IGNORE for decision in after.kept) == len(ignored)
    assert after.restored >= len(ignored)


def test_what_is_ignored_everywhere_stays_so_after_other_words_are_written():
    text = "我门去公圆，他门去公圆。"
    before = Decisions(text, Carried())
    before.add(ScriptedSpeller().edits(text))
    before.take(Kind.IGNORE_ALL, 0)
    before.take(Kind.ACCEPT, 1, "动物园")
    written = apply_edits(text, before.edits())
    after = Decisions(written, Carried(), before.after_writing())
    assert after.carried.pairs == {("门", "们")}
    after.add(ScriptedSpeller().edits(written))
    assert [(one.kind, one.pair) for one in after.kept] == [(Kind.IGNORE_ALL, ("门", "们"))]
    assert after.findings[after.next_open()].source == "圆"


def test_an_added_word_leaves_the_decisions_beside_it():
    text = "我门去公圆。"
    before = decided(text, [Kind.IGNORE, Kind.ADD_WORD])
    after = Decisions(text, Carried(), before.after_writing())
    after.add(ScriptedSpeller().edits(text)[:1])
    assert after.restored == 1
