import pytest

from nmspeller.runtime.rules import RULES, word_lists
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.protect import Span, protected_spans


def matches(rule, text):
    return list(RULES[rule].matches(text, protected_spans(text)))


def test_the_list_is_long_and_has_words_of_one_length():
    forms = word_lists.read("common_words.txt")
    assert len(forms) >= 1_500
    assert all(len(wrong) == len(right) and wrong != right for wrong, right in forms.items())
    assert not set(forms) & set(forms.values())


@pytest.mark.parametrize(
    "name", ["variants_of_2001.txt", "variants_of_dictionaries.txt", "term_variants.txt", "overconverted.txt"]
)
def test_no_form_is_recommended_and_advised_against(name):
    forms = word_lists.read(name)
    assert not set(forms) & set(forms.values())


def test_what_is_recommended_against_is_no_mistake():
    variants = word_lists.read("variants_of_2001.txt")
    assert not set(variants) & set(word_lists.read("common_words.txt"))


@pytest.mark.parametrize(
    "right",
    [
        "请按纽约时间开会。",
        "那时侯门深似海。",
        "他不能自已的样子。",
        "“按纽”应写作“按钮”。",
        "这是一种不能自已的深情。",
        "请直接去跟本尊说。",
        "你可以跟本王商量，也可以跟本杰明商量。",
        "请你跟本单位联系。",
        "州政府将拨放一大笔款项。",
        "这是张陆绪先生写的信。",
        "我们都在等侯经理，那时侯宝林还年轻。",
        "四驱干什么用？工程师付了两千元。",
        "他已12周未回家。",
        "他看了一眼，遂道：“走罢。”",
        "小路弯弯折折穿了三片树林。",
        "此事不偶而成，人皆称奇。",
        "将军孑身驱敌。",
        "救人的是小冯震奋不顾身的样子，大家都记得。",
        "大家不要过度期待，这学期未考试的人很多。",
        "他去观摩拖车比赛，在绿荫场地边休息。",
        "做会议记要点时，他看见墙上一幅眼镜蛇的画。",
        "路边躺着名伤者，手留弹片，满脸是血。",
        "我自已退休以来，感到他的忠心感谢不完。",
        "他倔起脾气来，狠不得下心，竟技压群雄。",
        "应筹足资金，再请两个跨台合作的歌手。",
        "灯迷了眼，糖裹着果子，烤贝柱和辣焦香鸡块都好吃。",
        "小说《过度期的爱》和歌曲《老白姓》都很有名。",
        "他从一数到计时员点头为止，又帮厨房洒吧台上的水。",
        "杜丹和肖遥老师来了，高弘达和林己立也来了。",
        "包子漏馅了，她把面揉软，又蒸了一笼槽糕，饺子却缺馅儿。",
        "歌手任然唱了三首歌，任然的歌迷都来了，这个分子发生破环反应。",
        "小倆口和老倆口都住在通霄，通霄營業到很晚。",
        "這次會議佈署了任務，要求貫澈到底。",
    ],
)
def test_forms_that_are_two_words_or_quoted_are_left_alone(right):
    assert matches("common_word", right) == []


def test_who_is_called_old_or_young_with_a_surname_has_no_name_after_it():
    assert [match.target for match in matches("common_word", "老张己经走了，小李跟本不知道。")] == [
        "已经",
        "根本",
    ]


def test_what_ends_a_word_is_no_surname():
    assert [match.target for match in matches("common_word", "路程己经不短，这周己经第三次了。")] == [
        "已经",
        "已经",
    ]


def test_a_form_before_or_after_a_word_of_its_own_is_still_wrong():
    wrong = "着名女星的过度期很长，绿荫场上有人，过度期间热水笼头坏了，什么时侯修？倒计时牌写着到计时日期。"
    assert [match.source for match in matches("common_word", wrong)] == [
        "着名",
        "过度期",
        "绿荫场",
        "过度期",
        "水笼头",
        "什么时侯",
        "到计时",
    ]


@pytest.mark.parametrize(
    ("wrong", "target"),
    [
        ("敬请稍侯。", "请稍候"),
        ("我稍侯再来。", "稍后"),
        ("他跑得氣喘噓噓，說不出話來。", "氣喘吁吁"),
        ("他受到藝術的薰淘，這樣很好。", "薰陶"),
        ("孩子鬧憋扭，還沒有來。", "彆扭"),
    ],
)
def test_the_word_is_the_one_that_is_meant(wrong, target):
    assert [match.target for match in matches("common_word", wrong)] == [target]


def test_the_fix_has_the_script_of_the_text():
    assert [match.target for match in matches("common_word", "這個時侯他還沒來。")] == ["時候"]
    assert matches("common_word", "我們去渡假，這裡很美。") == []


def test_a_word_of_the_user_is_left_alone():
    assert list(RULES["common_word"].matches("按纽", [Span(0, 2, "word")])) == []


def test_the_other_form_is_named_and_counted():
    (match,) = matches("term_variants", "账号、账号和帐号。")
    assert match.source == "帐号"
    assert str(match.note) == "The text also has 账号 (2×; this form 1×)."


@pytest.mark.parametrize(
    "right",
    ["部队登陆了。请登录网站。", "账号和账号", "其它东西和其它书给其他人。", "账号是常用词，也写作“帐号”。"],
)
def test_words_of_another_meaning_are_no_variants(right):
    assert matches("term_variants", right) == []


def test_a_recommended_form_comes_with_its_reason():
    assert "2001" in str(matches("recommended_form", "演出非常精采。")[0].note)
    assert "账户" in str(matches("recommended_form", "我的帐户。")[0].note)
    assert matches("recommended_form", "這個帳戶和这帐户，還沒有開過。") == []


@pytest.mark.parametrize(
    "right",
    [
        "墙上挂着狼头，酸液浸蚀金属。",
        "胡蝶和沈思都是演员，船过零丁洋。",
        "请签本份合同。",
        "我想像他那样生活。",
    ],
)
def test_forms_with_a_meaning_of_their_own_are_right(right):
    assert matches("recommended_form", right) == []


def test_the_same_forms_elsewhere_are_hints():
    text = "他很守本份，陷入沈思，想像未来，孤苦零丁。"
    assert [match.source for match in matches("recommended_form", text)] == [
        "本份",
        "沈思",
        "想像",
        "孤苦零丁",
    ]


@pytest.mark.parametrize(
    "right",
    [
        "他读过《後漢書》，也读过别的书。",
        "只有汉字",
        "這是他們的書。这是他们的书。他们来了，我们走了。",
        "金兵由兀朮率领，来到城下。",
        "這位姓範圍著一條圍巾，他說皇後面還有人。",
        "他看著作，写了很多乐曲。",
    ],
)
def test_quotations_and_names_of_the_other_script_are_right(right):
    assert matches("mixed_script", right) == []


def test_words_of_the_other_script_that_meet_no_other_word_are_hints():
    wrong = "她看著书，随著时间过去，房间很乾净，瞭解的人还没有说话。"
    assert [match.source for match in matches("mixed_script", wrong)] == ["看著", "随著", "乾净", "瞭解"]


@pytest.mark.parametrize(("rule", "form"), [("taiwan_forms", "裡"), ("hong_kong_forms", "裏")])
def test_regional_forms_are_hints_in_traditional_text_alone(rule, form):
    [hint] = matches(rule, "他們在教室裏讀書。" if form == "裡" else "他們在教室裡讀書。")
    assert hint.target is None
    assert form in str(hint.note)
    assert matches(rule, f"他們在教室{form}讀書。") == []
    assert matches(rule, "教室里有人读书，裏和裡是繁体字。") == []


def test_known_words_are_no_wrong_forms_of_the_idiom_rule():
    assert words().mistakes.isdisjoint(word_lists.read("common_words.txt"))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("车站任然很挤。", "仍然"),
        ("不要破环学校的坏境。", "破坏"),
        ("这是重大缺馅。", "缺陷"),
        ("糟糕，槽糕透了。", "糟糕"),
    ],
)
def test_forms_that_are_words_elsewhere_are_found(wrong, right):
    assert matches("common_word", wrong)[0].target == right
