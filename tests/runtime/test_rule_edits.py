"""Rules beside the model: which are used, and what becomes of their matches."""

import pytest

from nmspeller import InputError
from nmspeller.runtime.correction import Edit, Hint, Reason, apply_edits, clear_of
from nmspeller.runtime.rule_edits import chosen_rules, find_in_document, with_matches
from nmspeller.text.protect import Span, protected_spans


def with_rules(text, protected, edits, rules):
    return with_matches(edits, find_in_document([text], [protected], rules)[0])


def document_hints(texts, protected, rules):
    return [with_matches([], matches)[1] for matches in find_in_document(texts, protected, rules)]


def test_no_rule_is_used_unless_asked_for():
    assert chosen_rules(False) == ()


def test_rules_are_chosen_by_id():
    assert [rule.id for rule in chosen_rules(["idiom"])] == ["idiom"]
    with pytest.raises(InputError, match="there is no rule 'grammar'; choose among idiom"):
        chosen_rules(["grammar"])


def test_a_fix_becomes_an_edit_with_the_id_of_its_rule():
    text = "他做事一向按步就班。"
    (edit,), hints = with_rules(text, protected_spans(text), [], chosen_rules(["idiom"]))
    assert (edit.reason, edit.rule, edit.confidence) == (Reason.RULE, "idiom", 1.0)
    assert apply_edits(text, [edit]) == "他做事一向按部就班。"
    assert hints == ()


def test_an_edit_of_the_model_stays():
    text = "他做事一向按步就班。"
    own = Edit(6, 1, "步", "部", 0.9, (), Reason.SAME_SOUND, 0.9)
    assert with_rules(text, protected_spans(text), [own], chosen_rules(["idiom"])) == ([own], ())


def test_edits_that_delete_are_applied_in_order():
    text = "我想取消了了我的的订单，，好吗？"
    rules = chosen_rules(["doubled_punctuation", "doubled_character"])
    edits, _ = with_rules(text, protected_spans(text), [], rules)
    assert apply_edits(text, edits).count("，") == 1
    assert [edit.offset for edit in edits] == sorted(edit.offset for edit in edits)


def test_what_cannot_be_fixed_is_a_hint_unless_it_touches_an_edit():
    text = "好的，。再见，，"
    edits, hints = with_rules(text, [], [], chosen_rules(["doubled_punctuation"]))
    assert hints == (Hint(2, 2, "，。", "doubled_punctuation"),)
    assert apply_edits(text, edits) == "好的，。再见，"
    beside = Edit(1, 1, "的", "得", 0.9, (), Reason.DE, 0.9)
    assert with_rules(text, [], [beside], chosen_rules(["doubled_punctuation"])) == ([beside, *edits], ())


NAMES = ["张林说他来。张林先生请坐。", "今天天气很好。", "张琳说他不来。张琳先生请坐。"]


def test_hints_see_the_whole_document():
    rules = chosen_rules(True)
    assert all(with_rules(text, [], [], rules) == ([], ()) for text in NAMES)
    first, middle, last = document_hints(NAMES, [[], [], []], rules)
    assert (middle, last) == ((), ())
    assert [hint.offset for hint in first] == [0, 6]
    assert all(NAMES[0][hint.offset : hint.offset + hint.length] == hint.source == "张林" for hint in first)


def test_hints_keep_clear_of_protected_spans_of_each_text():
    protected = [[Span(0, 2, "word")], [], []]
    first, *_ = document_hints(NAMES, protected, chosen_rules(True))
    assert [hint.offset for hint in first] == [6]


def test_a_quotation_over_several_texts_is_balanced():
    texts = ["他说：“今天天气很好。", "我们出去走走吧。”"]
    rules = chosen_rules(["unbalanced_marks"])
    assert document_hints(texts, [[], []], rules) == [(), ()]
    assert document_hints(texts[:1], [[]], rules) != [()]


def test_what_touches_an_edit_is_left_out():
    edits = [Edit(2, 1, "甲", "乙", 1, (), Reason.RULE), Edit(8, 0, "", " ", 1, (), Reason.RULE)]
    places = [(0, 1), (0, 2), (2, 1), (3, 1), (4, 1), (5, 3), (7, 0), (9, 1)]
    clear = clear_of(edits, [Hint(offset, length, "", "") for offset, length in places])
    assert [(hint.offset, hint.length) for hint in clear] == [(0, 1), (4, 1), (7, 0), (9, 1)]
