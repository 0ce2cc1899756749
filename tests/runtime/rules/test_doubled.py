import pytest

from nmspeller.runtime.rules import RULES, RuleMatch
from nmspeller.text.protect import protected_spans


def matches(rule, text):
    return list(RULES[rule].matches(text, protected_spans(text)))


def test_offset_of_a_doubled_character():
    assert matches("doubled_character", "这是我的的书。") == [RuleMatch(4, 1, "的", "", "doubled_character")]


@pytest.mark.parametrize(
    "right",
    [
        "你看看，慢慢走，妈妈谢谢你。",
        "人人都好，天天都来，刚刚好好的。",
        "事情就不了了之了。",
        "小时了了，大未必佳。",
        "小时了了谓年幼时聪明。",
        "那个女的的名字。",
        "用不着着慌。",
        "我受不了了，他来得了了吗？",
        "为了了解情况，他去了。",
        "目的的确定很难。",
        "他的的确确来过。",
        "我们坐爸爸的的士去。",
        "的的喀喀湖很美。",
        "是是非非，说不清楚。",
        "的确良衣服，我的的确良衣服。",
        "舒舒服服地睡。",
        "一根根，一部部，一件件。",
        "取消消费税。",
        "中国国家队。",
        "吉尔吉斯斯坦。",
        "他在寻找着着陆场。",
        "蚕丝被被弄脏了。",
        "李冰冰和范冰冰来了。",
        "亮晶晶的星星。",
        "這是老師的的確確說過的。",
        "為了瞭解情況。",
    ],
)
def test_reduplication_is_right(right):
    assert matches("doubled_character", right) == []
    assert matches("doubled_word", right) == []


@pytest.mark.parametrize("wrong", ["他取消消了会议。", "我有一个问题题。"])
def test_the_last_character_of_a_word_typed_twice(wrong):
    assert [match.length for match in matches("doubled_word", wrong)] == [1]


@pytest.mark.parametrize(
    "right", ["人人为我，我为人人。", "告诉我我错了。", "我们，我们去。", "研究研究，讨论讨论。"]
)
def test_words_of_two_clauses_are_right(right):
    assert matches("doubled_word", right) == []


def test_doubled_words_are_off():
    assert not RULES["doubled_word"].on_by_default


@pytest.mark.parametrize("right", ["真的吗……", "他——走了", "好！！", "真的？？", "什么？！"])
def test_style_is_left_alone(right):
    assert matches("doubled_punctuation", right) == []


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ("好，，", (1, 2, "，，", "，")),
        ("好。。", (1, 2, "。。", "。")),
        ("好。。。。", (1, 4, "。。。。", "……")),
        ("好、、、", (1, 3, "、、、", None)),
        ("好，。", (1, 2, "，。", None)),
    ],
)
def test_doubled_punctuation(wrong, expected):
    assert matches("doubled_punctuation", wrong) == [RuleMatch(*expected, "doubled_punctuation")]
