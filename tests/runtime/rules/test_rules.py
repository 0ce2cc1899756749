"""What holds for every rule, and for all of them together."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import assert_linear

from nmspeller.errors import InputError
from nmspeller.messages import _, speaking
from nmspeller.runtime.rules import RULES, Group, Note, RuleMatch, apply_fixes, find, select
from nmspeller.text.protect import Span, protected_spans

ROWS = [
    line.split("\t")
    for line in Path(__file__).with_name("wrong_sentences.tsv").read_text("utf-8").splitlines()
]
# They change how numbers are written, never what they say, and so read what is protected as a number.
READS_NUMBERS = {
    "number_format",
    "impossible_date",
    "weekday",
    "redundant_amount",
    "mixed_width",
    "range_dash",
}
# The last column names what is known to be missed; benchmarks/rules.py counts it all the same.
WRONG = [row for row in ROWS if len(row) == 3]
CHARACTERS = st.sampled_from(
    "的了我们慢走得很快按步就班默守成规公园取消张琳林说先生一二我們個門覆著纽账帐号是月日年星期约左右百分之约零０９％-～"
    " \u3000\n\r\t,，.。、；:：!！?？…—“”‘’「」（）()《》】aZ9%`$\\@#\0\ud800"
)
TEXTS = st.text(CHARACTERS, max_size=80) | st.text(max_size=40) | st.sampled_from([row[1] for row in WRONG])


@pytest.mark.parametrize(("rule", "wrong", "right"), WRONG)
def test_wrong_sentences_are_found(rule, wrong, right):
    matches = list(RULES[rule].matches(wrong, protected_spans(wrong)))
    assert matches
    if right:
        assert apply_fixes(wrong, matches) == right
    else:
        assert apply_fixes(wrong, matches) == wrong


@pytest.mark.parametrize(("rule", "wrong", "right"), [row for row in WRONG if row[2]])
def test_right_sentences_are_left_alone(rule, wrong, right):
    assert find(right, protected_spans(right), select(["spelling"])) == []


def test_there_are_enough_wrong_sentences():
    assert len(WRONG) >= 60
    assert {row[0] for row in WRONG} == set(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
@settings(max_examples=60, deadline=None)
@given(text=TEXTS | st.lists(TEXTS, max_size=4).map("".join))
def test_matches_are_exact_disjoint_and_clear_of_protected_text(rule, text):
    protected = protected_spans(text)
    matches = list(rule.matches(text, protected))
    closed = [
        span for span in protected if rule.id not in READS_NUMBERS or span.kind not in ("number", "amount")
    ]
    end = 0
    for match in matches:
        assert end <= match.offset <= match.stop <= len(text)
        assert text[match.offset : match.stop] == match.source
        assert match.rule == rule.id
        assert match.target != match.source
        assert match.length or match.target
        assert not any(match.offset < stop and start < match.stop for start, stop, _ in closed)
        end = match.stop
    assert matches == sorted(matches)
    assert list(rule.matches(text, protected)) == matches


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
@settings(max_examples=30, deadline=None)
@given(text=TEXTS, start=st.integers(0, 40), length=st.integers(1, 40))
def test_nothing_is_found_in_a_closed_stretch(rule, text, start, length):
    spans = [Span(start, start + length, "word"), Span(max(0, start - 2), start + 1, "code")]
    for match in rule.matches(text, spans):
        assert not any(match.offset < stop and begin < match.stop for begin, stop, _ in spans)
    assert not list(rule.matches(text, [Span(0, len(text), "word")]))


@settings(max_examples=150, deadline=None)
@given(text=st.lists(TEXTS, max_size=5).map("".join))
def test_all_together_are_sorted_and_disjoint_and_change_nothing_else(text):
    matches = find(text, protected_spans(text), RULES.values())
    assert matches == sorted(matches)
    kept, end = [], 0
    for match in matches:
        assert match.offset >= end
        kept.append(text[end : match.offset])
        end = match.stop
    pieces = [*kept, text[end:]]
    fixed = apply_fixes(text, matches)
    expected = [part for piece, match in zip(pieces, matches, strict=False) for part in (piece, _new(match))]
    assert fixed == "".join([*expected, pieces[-1]])


def _new(match):
    return match.source if match.target is None else match.target


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_the_example_is_found_and_fixed_as_printed(rule):
    wrong, right = rule.example
    matches = list(rule.matches(wrong, protected_spans(wrong)))
    assert matches
    if right is None:
        assert all(match.target is None for match in matches)
    else:
        assert apply_fixes(wrong, matches) == right
        assert list(rule.matches(right, protected_spans(right))) == []


def test_groups_and_ids_are_selected_alike():
    assert select(["spelling"]) == tuple(rule for rule in RULES.values() if rule.on_by_default)
    typography = select(["typography"])
    assert {rule.group for rule in typography} == {Group.TYPOGRAPHY}
    assert not any(rule.on_by_default for rule in typography)
    both = select(["recommended_form", "idiom", "typography", "mixed_width"])
    assert both == (RULES["idiom"], RULES["recommended_form"], *typography)
    assert select([]) == ()


def test_what_is_not_there_cannot_be_selected():
    with pytest.raises(InputError, match="no rule 'none'; choose among spelling, typography, idiom"):
        select(["idiom", "none"])


def test_a_note_is_in_the_present_language():
    note = Note("This month has {days} days.", (("days", "30"),))
    assert str(note) == "This month has 30 days."
    with speaking("zh"):
        assert str(note) != "This month has 30 days."
        assert "30" in str(note)


@pytest.mark.slow
@pytest.mark.parametrize(
    "repeated",
    [
        "的",
        "“",
        "（甲",
        "1,",
        "百分之",
        "2024年",
        "约一",
        "是是",
        "《",
        "“甲“",
        "[甲",
        "...--",
        "账号帐号",
        "时侯",
        "頭发",
        "已经",
        "1-2～",
        "９9",
    ],
)
def test_hostile_texts_take_linear_time(repeated):
    def work(length):
        text = repeated * (length // len(repeated))
        protected = protected_spans(text)
        for rule in RULES.values():
            list(rule.matches(text, protected))

    assert_linear(work, 20_000)


def test_names_and_explanations_are_in_both_languages():
    assert all(id == rule.id for id, rule in RULES.items())
    for rule in RULES.values():
        for words in (rule.name, rule.explanation, rule.category.name):
            assert words.isprintable()
            assert words[0].isupper() or words[0] in "的地"
            with speaking("zh"):
                assert _(words) != words


def test_a_fix_goes_before_a_hint_and_then_the_earlier_rule():
    class Fake:
        def __init__(self, id, *matches):
            self.id, self._matches = id, matches

        def matches(self, text, protected):
            return iter(RuleMatch(a, b - a, text[a:b], target, self.id) for a, b, target in self._matches)

    hint = Fake("hint", (0, 3, None))
    first = Fake("first", (1, 2, "x"), (3, 4, "y"), (5, 5, " "))
    second = Fake("second", (3, 5, "z"), (5, 5, "!"), (5, 6, "w"))
    found = find("abcdefg", [], [hint, first, second])
    assert [(match.rule, match.offset) for match in found] == [
        ("first", 1),
        ("first", 3),
        ("first", 5),
        ("second", 5),
    ]
    assert apply_fixes("abcdefg", found) == "axcye wg"


@pytest.mark.parametrize(("page", "yes"), [("rules.md", "yes"), ("zh/rules.md", "开")])
def test_the_docs_say_which_rules_are_on_by_default(page, yes):
    text = (Path(__file__).parents[3] / "docs" / page).read_text(encoding="utf-8")
    said = {
        name: last == yes for name, last in re.findall(r"^\| `(\w+)` \|.*\| (\S+) \|$", text, re.MULTILINE)
    }
    assert said == {name: rule.on_by_default for name, rule in RULES.items()}
