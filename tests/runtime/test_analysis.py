"""One algorithm for every app: what is certain first, then the model; edits in order that never overlap."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmspeller.runtime.analysis import Analyzer
from nmspeller.runtime.correction import Correction, apply_edits, clear_of
from nmspeller.runtime.dictionary import Replacements
from nmspeller.runtime.edits import Change
from nmspeller.runtime.findings import Edit, Hint, Reason
from nmspeller.runtime.reading import Part
from nmspeller.runtime.rule_matches import chosen_rules
from nmspeller.text.protect import ProtectedWords

GROUPS = ("spelling", "typography")
KNOWN = {
    "高心": (1, "兴"),
    "他门": (1, "们"),
    "我门": (1, "们"),
    "按步就班": (1, "部"),
    "开心的笑了。": (2, "地"),
}


def read(part: Part) -> list[Change]:
    """What a model would change that knows a few errors by heart."""
    changes = []
    for wrong, (shift, right) in KNOWN.items():
        start = part.text.find(wrong)
        while start >= 0:
            if not any(first <= start + shift < last for first, last in part.locked):
                changes.append(Change(start + shift, right, 0.9, 0.9))
            start = part.text.find(wrong, start + 1)
    return sorted(changes)


def check(*texts: str, rules=False, **options) -> list[Correction]:
    chosen = chosen_rules(GROUPS if rules is True else rules)
    document = Analyzer(126, rules=chosen, **options).analyze(texts)
    return document.corrections(map(read, document.parts))


def shown(correction: Correction) -> list[tuple[int, str, str]]:
    return [(edit.offset, edit.source, edit.target) for edit in correction.edits]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我很高心。。他门走了。", [(3, "心", "兴"), (4, "。。", "。"), (7, "门", "们")]),
        ("我很高心，，他门走了。", [(3, "心", "兴"), (4, "，，", "，"), (7, "门", "们")]),
        ("我很高心!他门走了。", [(3, "心", "兴"), (4, "!", "！"), (6, "门", "们")]),
    ],
)
def test_what_touches_an_edit_of_the_model_is_kept(text, expected):
    (result,) = check(text, rules=True)
    assert shown(result) == expected


def test_after_fixing_there_is_nothing_left_to_find():
    (first,) = check("我很高心。。他门,他门走了!!", rules=True)
    (second,) = check(first.text, rules=True)
    assert not second.edits


@pytest.mark.parametrize("end", ["。", "。。"])
@pytest.mark.parametrize("rules", [True, False])
def test_the_model_reads_the_text_as_certain_rules_leave_it(end, rules):
    (result,) = check("孩子们开心的笑了" + end, rules=rules)
    assert (5, "的", "地") in shown(result)


def test_fixes_that_nobody_asked_for_are_read_and_not_reported():
    (result,) = check("他门走了。。", rules=False)
    assert shown(result) == [(1, "门", "们")]
    assert result.text == "他们走了。。"


def test_a_rule_goes_before_the_model_where_both_know_the_error():
    (result,) = check("他做事一向按步就班。", rules=["idiom"])
    (edit,) = result.edits
    assert (edit.reason, edit.rule, edit.confidence) == (Reason.RULE, "idiom", 1.0)
    assert result.text == "他做事一向按部就班。"


def test_a_replacement_of_the_user_is_read_as_made():
    (result,) = check("我们登陆了他门网站。", replacements=Replacements({"登陆": "登录", "门网": "门户网"}))
    assert shown(result) == [(2, "登陆", "登录"), (6, "门网", "门户网")]


def test_a_text_that_is_replaced_by_itself_is_protected():
    (result,) = check("登陆艇登陆", replacements=Replacements({"登陆": "登录", "登陆艇": "登陆艇"}))
    assert result.text == "登陆艇登录"


def test_words_of_the_user_are_protected_from_model_and_rules():
    (result,) = check("他门按步就班。", rules=True, words=[ProtectedWords(["他门", "按步就班"])])
    assert not result.edits


def test_neutral_passages_have_the_script_of_the_document():
    first, second = check("老師說這個問題很長。", "我很高心。")
    assert second.text == "我很高興。"
    assert not first.edits


def test_where_a_rule_inserts_the_model_does_not():
    text = "他用 abc 写，又用 abc 读，我看完abc"
    place = text.index("完") + 1
    document = Analyzer(126, rules=chosen_rules(["mixed_spacing"])).analyze([text])
    (result,) = document.corrections([[Change(place, "了", 0.9, 0.9, length=0)]])
    assert shown(result) == [(place, "", " ")]


def test_hints_are_clear_of_the_edits():
    (result,) = check("好的，。他门来了", rules=["doubled_punctuation"])
    assert result.hints == (Hint(2, 2, "，。", "doubled_punctuation"),)


PIECES = [
    "我门",
    "高心",
    "他门",
    "。。",
    "，，",
    "!",
    "，。",
    " ",
    "abc",
    "登陆",
    "按步就班",
    "的的",
    "了了",
    "“",
    "\n",
    "好",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=120), st.sampled_from([8, 20, 126]))
def test_edits_never_overlap_and_parts_add_up_to_the_whole(pieces, window):
    text = "".join(pieces)
    analyzer = Analyzer(window, replacements=Replacements({"登陆": "登录"}), rules=chosen_rules(GROUPS))
    document = analyzer.analyze([text])
    found = [read(part) for part in document.parts]
    (result,) = document.corrections(found)
    end = 0
    for edit in result.edits:
        assert end <= edit.offset
        assert edit.source == text[edit.offset : edit.stop] != edit.target
        end = edit.stop
    assert apply_edits(text, result.edits) == result.text
    assert [*clear_of(result.edits, result.hints)] == [*result.hints]
    in_parts = [
        edit for number, changes in enumerate(found) for edit in document.finish(number, changes).edits
    ]
    assert in_parts == [*result.edits]


def test_only_an_overlap_is_a_conflict():
    edits = [Edit(2, 1, "甲", "乙", 1, (), Reason.RULE), Edit(8, 0, "", " ", 1, (), Reason.RULE)]
    places = [(0, 2), (1, 2), (2, 1), (3, 1), (5, 3), (7, 2), (8, 0), (8, 1)]
    clear = clear_of(edits, [Hint(offset, length, "", "") for offset, length in places])
    assert [(hint.offset, hint.length) for hint in clear] == [(0, 2), (3, 1), (5, 3), (8, 1)]
