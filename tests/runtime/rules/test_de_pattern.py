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
        "让她高兴的点在于全家都来了，他认真的点到为止。",
        "高兴的走了，生气的留下了。",
        "先跑的很快，后走的很慢。",
        "歌曲《悄悄的走了》很好听。",
        "“慢慢的走过来”这句话有错。",
    ],
)
def test_what_is_right_or_doubtful_is_left_alone(right):
    assert matches(right) == []


@pytest.mark.parametrize(
    ("wrong", "target"),
    [
        ("“他慢慢的走了。”她说。", "地"),
        ("他高兴的跳了起来，大家都笑了。", "地"),
        ("他悄悄的走到门口的椅子旁。", "地"),
        ("他轻轻站起来，默默的离开了。", "地"),
        ("读完《家》，他静静的坐着。", "地"),
        ("兴奋的跳起来，她唱着歌。", "地"),
        ("孩子们睡的很晚。", "得"),
    ],
)
def test_what_is_wrong_in_speech_and_beside_other_clauses(wrong, target):
    assert [match.target for match in matches(wrong)] == [target]
