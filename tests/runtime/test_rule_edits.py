"""Rules beside the model: which are used, and what becomes of their matches."""

import pytest

from nmspeller import InputError
from nmspeller.runtime.correction import Edit, Reason, apply_edits
from nmspeller.runtime.rule_edits import chosen_rules, with_rules
from nmspeller.text.protect import protected_spans


def test_no_rule_is_used_unless_asked_for():
    assert chosen_rules(False) == ()


def test_rules_are_chosen_by_id():
    assert [rule.id for rule in chosen_rules(["idiom"])] == ["idiom"]
    with pytest.raises(InputError, match="there is no rule 'grammar'; choose among idiom"):
        chosen_rules(["grammar"])


def test_a_fix_becomes_an_edit_with_the_id_of_its_rule():
    text = "他做事一向按步就班。"
    (edit,) = with_rules(text, protected_spans(text), [], chosen_rules(["idiom"]))
    assert (edit.reason, edit.rule, edit.confidence) == (Reason.RULE, "idiom", 1.0)
    assert apply_edits(text, [edit]) == "他做事一向按部就班。"


def test_an_edit_of_the_model_stays():
    text = "他做事一向按步就班。"
    own = Edit(6, 1, "步", "部", 0.9, (), Reason.SAME_SOUND, 0.9)
    assert with_rules(text, protected_spans(text), [own], chosen_rules(["idiom"])) == [own]


def test_edits_that_delete_are_applied_in_order():
    text = "我我想取消消订单，，好吗？"
    edits = with_rules(text, protected_spans(text), [], chosen_rules(True))
    assert apply_edits(text, edits).count("，") == 1
    assert [edit.offset for edit in edits] == sorted(edit.offset for edit in edits)
