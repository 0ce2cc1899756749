import pytest

from nmspeller.runtime.rules import RULES, RuleMatch


def matches(text):
    return list(RULES["de_pattern"].matches(text, []))


def test_adverb_and_complement():
    assert matches("他慢慢的走了。") == [RuleMatch(3, 1, "的", "地", "de_pattern")]
    assert matches("他跑的很快。") == [RuleMatch(2, 1, "的", "得", "de_pattern")]


@pytest.mark.parametrize(
    "right",
    [
        "慢慢地走了。",
        "静静的顿河。",
        "高高的山。",
        "他说的很对。",
        "写的很多。",
        "慢慢的说法。",
        "跑得很快。",
        "他慢慢的走進來，說了聲謝謝。",
    ],
)
def test_what_is_right_or_doubtful_is_left_alone(right):
    assert matches(right) == []
