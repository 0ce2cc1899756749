"""What holds for every rule, and for all of them together."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmspeller.messages import _, speaking
from nmspeller.runtime.rules import RULES, RuleMatch, apply_fixes, default_rules, find
from nmspeller.text.protect import Span, protected_spans

ROWS = [
    line.split("\t")
    for line in Path(__file__).with_name("wrong_sentences.tsv").read_text("utf-8").splitlines()
]
# The last column names what is known to be missed; benchmarks/rules.py counts it all the same.
WRONG = [row for row in ROWS if len(row) == 3]
CHARACTERS = st.sampled_from(
    "的了我们慢走得很快按步就班默守成规公园取消张琳林说先生一二我們個門覆著"
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
    assert find(right, protected_spans(right), default_rules()) == []


def test_there_are_enough_wrong_sentences():
    assert len(WRONG) >= 60
    assert {row[0] for row in WRONG} == set(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
@settings(max_examples=150, deadline=None)
@given(text=TEXTS | st.lists(TEXTS, max_size=4).map("".join))
def test_matches_are_exact_disjoint_and_clear_of_protected_text(rule, text):
    protected = protected_spans(text)
    matches = list(rule.matches(text, protected))
    end = 0
    for match in matches:
        assert end <= match.offset <= match.stop <= len(text)
        assert text[match.offset : match.stop] == match.source
        assert match.rule == rule.id
        assert match.target != match.source
        assert match.length or match.target
        assert not any(match.offset < stop and start < match.stop for start, stop, _ in protected)
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


@settings(max_examples=300, deadline=None)
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


def test_names_and_explanations_are_in_both_languages():
    assert all(id == rule.id for id, rule in RULES.items())
    for rule in RULES.values():
        for words in (rule.name, rule.explanation):
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
