import pytest

from nmspeller.runtime.rules import RuleMatch
from nmspeller.runtime.rules.idiom import Idiom
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.protect import Span


def matches(text, protected=()):
    return list(Idiom().matches(text, protected))


def test_the_list_is_long():
    known = words()
    assert len(known.long_words) >= 30_000
    assert len(known.idioms) >= 5_000
    assert known.mistakes.isdisjoint(known.long_words)
    assert known.idioms <= known.long_words


def test_offsets_are_exact():
    assert matches("😀他按步就班，又迫不急待。") == [
        RuleMatch(2, 4, "按步就班", "按部就班", "idiom"),
        RuleMatch(8, 4, "迫不急待", "迫不及待", "idiom"),
    ]


def test_the_fix_has_the_script_of_the_text():
    assert matches("孩子們迫不急待地拆開禮物。")[0].target == "迫不及待"
    assert matches("這個時候他卻一如繼往。")[0].target == "一如既往"


@pytest.mark.parametrize("place", range(4))
def test_each_place_may_be_wrong(place):
    wrong = ["穿流不息", "一愁莫展", "迫不急待", "川流不熄"][place]
    right = ["川流不息", "一筹莫展", "迫不及待", "川流不息"][place]
    assert [match.target for match in matches(f"他们{wrong}。")] == [right]


@pytest.mark.parametrize(
    "text",
    [
        "电影《霸王别鸡》很好看。",
        "广告说“有求币应”，真有趣。",
        "一桶天下盛世金尊",
        "迫不急待应写作迫不及待。",
    ],
)
def test_plays_upon_words_and_talk_about_words_are_left_alone(text):
    assert matches(text) == []


@pytest.mark.parametrize(
    "right",
    [
        "按部就班",
        "人才济济",
        "人材济济",
        "原原本本",
        "源源本本",
        "莫名其妙",
        "莫明其妙",
        "想象得到",
        "想像得到",
        "不止一次",
        "不只一次",
        "独一无二",
        "归根结底",
        "归根结柢",
        "三心两意",
        "万里挑一",
        "独断专横",
        "风生水起",
        "天下大势",
        "绰绰有馀",
        "振振有辞",
        "天翻地覆",
        "臭名昭著",
        "反覆无常",
    ],
)
def test_variants_are_right(right):
    assert matches(f"他说{right}。") == []


@pytest.mark.parametrize(
    "right", ["天翻地覆", "臭名昭著", "綽綽有餘", "反覆無常", "心裡有數", "乾乾淨淨", "一瞭解就明白"]
)
def test_traditional_forms_are_right(right):
    assert matches(f"這個時候{right}。") == []


def test_protected_stretches_are_left_alone():
    assert matches("他按步就班", [Span(4, 5, "word")]) == []
