"""Which rules are used, and what they find in the passages of a document."""

import pytest

from nmspeller import InputError
from nmspeller.runtime.rule_matches import chosen_rules, find_in_document
from nmspeller.text.protect import Span

NAMES = ["张林说他来。张林先生请坐。", "今天天气很好。", "张琳说他不来。张琳先生请坐。"]


def test_no_rule_is_used_unless_asked_for():
    assert chosen_rules(False) == ()


def test_rules_are_chosen_by_id():
    assert [rule.id for rule in chosen_rules(["idiom"])] == ["idiom"]
    with pytest.raises(InputError, match="there is no rule 'grammar'; choose among spelling"):
        chosen_rules(["grammar"])
    for unnamed in (["idiom"], {}, None, 3):
        with pytest.raises(InputError, match="there is no rule"):
            chosen_rules([unnamed])
    for wrong in ("idiom", {"idiom": False}):
        with pytest.raises(InputError, match=f"not as {wrong!r}"):
            chosen_rules(wrong)


def test_rules_see_the_whole_document():
    rules = chosen_rules(["name_variants"])
    assert all(find_in_document([text], [[]], rules) == [[]] for text in NAMES)
    first, middle, last = find_in_document(NAMES, [[], [], []], rules)
    assert (middle, last) == ([], [])
    assert [match.offset for match in first] == [0, 6]
    assert all(NAMES[0][match.offset : match.stop] == match.source == "张林" for match in first)


def test_rules_keep_clear_of_protected_spans_of_each_text():
    protected = [[Span(0, 2, "word")], [], []]
    first, *_ = find_in_document(NAMES, protected, chosen_rules(["name_variants"]))
    assert [match.offset for match in first] == [6]


def test_a_quotation_over_several_texts_is_balanced():
    texts = ["他说：“今天天气很好。", "我们出去走走吧。”"]
    rules = chosen_rules(["unbalanced_marks"])
    assert find_in_document(texts, [[], []], rules) == [[], []]
    assert find_in_document(texts[:1], [[]], rules) != [[]]
