import pytest

from nmspeller.runtime.rules import RULES, RuleMatch, apply_fixes
from nmspeller.text.protect import protected_spans


def matches(rule, text):
    return list(RULES[rule].matches(text, protected_spans(text)))


@pytest.mark.parametrize(
    "right",
    [
        "共1,000人，12:30开会。",
        "比分是3:2。",
        "他说hello, world。",
        "约翰.史密斯来了",
        "`甲,乙`是代码",
        "见https://例子.中国/a,b。",
        "张三,李四,王五",
        "房价,深圳,深圳龙华的房价,躺平,服装,流失严重",
        "欢迎！房价,深圳,深圳龙华的房价,躺平,服装,流失严重",
        "第一章.",
        "$甲,乙\\alpha$",
        "版本1.2.3",
    ],
)
def test_half_width_marks_that_are_right(right):
    assert matches("half_width_punctuation", right) == []


def test_a_half_width_mark_swallows_the_blank_after_it():
    assert matches("half_width_punctuation", "他来了, 我走了。") == [
        RuleMatch(3, 2, ", ", "，", "half_width_punctuation")
    ]
    assert matches("half_width_punctuation", "真的?!\n是")[0].target == "？！"


@pytest.mark.parametrize(
    "right",
    [
        "他说：“好。”",
        "「好，『甲』。」",
        "“第一段。\n“第二段。”",
        "“第一段没有完，\n第二段才完。”",
        "他说：“第一段。\n\n　　“第二段。\n“第三段。”他走了。",
        "1）苹果\n2）梨",
        "他说：）",
        "don’t，’99世博会",
        "（见图 2）",
        "点（甲，乙）",
        "用“（”和“）”",
        "〔他走了。",
        "拿去吧，孩子。〔给童钱。",
        "原则：１）苹果；２）梨",
        "建兴十二年（234)，出兵。",
        "(第一期）结束了。",
        '找到字符串“甲"，所以',
        "女生＂糟蹋”身体",
        "好耶（笑",
        "回岛-》老本行",
    ],
)
def test_balanced_marks_are_right(right):
    assert matches("unbalanced_marks", right) == []


def test_reversed_marks_are_turned_and_doubtful_ones_are_hints():
    assert [match.target for match in matches("unbalanced_marks", "他说：”好。“")] == ["“", "”"]
    assert [match.target for match in matches("unbalanced_marks", "他说：“好。“，走了。")] == ["”"]
    assert [match.target for match in matches("unbalanced_marks", "走吧。”他说，“好。")] == [None, None]


@pytest.mark.parametrize(
    "text", ["他说：“好。\n他走了。", "他说：“好\n“是”的意思。", "他说：“好。\n\n「是。」"]
)
def test_a_quotation_that_the_next_paragraph_does_not_go_on_with_is_a_hint(text):
    assert matches("unbalanced_marks", text) == [RuleMatch(3, 1, "“", None, "unbalanced_marks")]


def test_a_lone_bracket_is_a_hint():
    assert matches("unbalanced_marks", "甲（乙。\n丙") == [RuleMatch(1, 1, "（", None, "unbalanced_marks")]


@pytest.mark.parametrize(
    ("text", "lone"),
    [
        ("f(x)=1，他（乙，好", "（"),
        ("(甲)他）好", "）"),
        ('他说“好"和“坏。', "“"),
        ("a] 他（乙，好", "（"),
        ("乙) 他（好，", "（"),
    ],
)
def test_a_half_width_mark_that_belongs_elsewhere_is_no_partner(text, lone):
    assert [match.source for match in matches("unbalanced_marks", text)] == [lone]


@pytest.mark.parametrize(
    "right",
    [
        "　　第一段，首行缩进。",
        "目 录",
        "第一章 总则",
        "第三条 公民有权利，也有义务。",
        "张 三，李 四，王 五，赵 六，钱 七",
        "床前明月光 疑是地上霜",
        "姓 名　性 别",
        "译  者：张三，李四",
        "本报讯（记者 王小明 通讯员 李大海）昨天，会议召开。",
        "3月5日 星期三 天气晴，我们去春游。",
        "他用 Python 写，很快。",
    ],
)
def test_blanks_that_are_right(right):
    assert matches("space_between_hanzi", right) == []


def test_a_blank_inside_a_word_is_deleted():
    assert matches("space_between_hanzi", "我们去公 园，好吗？") == [
        RuleMatch(4, 1, " ", "", "space_between_hanzi")
    ]


def test_mixed_spacing_inserts_where_the_text_mostly_has_blanks():
    assert matches("mixed_spacing", "用 Vim 写，用Go写") == [
        RuleMatch(9, 0, "", " ", "mixed_spacing"),
        RuleMatch(11, 0, "", " ", "mixed_spacing"),
    ]
    assert matches("mixed_spacing", "用 Go 写") == []
    assert matches("mixed_spacing", "用Go写，用 Vim写") == []


def test_a_text_without_full_width_marks_keeps_its_own():
    habit = "他来了, 我走了, 你呢?\n" * 5
    assert matches("half_width_punctuation", habit) == []
    assert matches("half_width_punctuation", "她笑了，我哭了，天亮了。\n" * 5 + "他来了, 我走了。")


def test_a_text_that_knows_no_other_ellipsis_keeps_its_own():
    assert matches("ellipsis_dash", "我想...算了\n" * 5) == []
    assert matches("ellipsis_dash", "我想...算了\n" * 5 + "他说……好")


@pytest.mark.parametrize(
    "right",
    ["目录............3", "a...b", "`甲--乙`", "------", "甲 -- 乙", "见 https://example.com/a--b"],
)
def test_dots_and_hyphens_that_are_right(right):
    assert matches("ellipsis_dash", right) == []


@pytest.mark.parametrize(
    "right",
    [
        "f(x）",
        "（见图 2）",
        "“他说‘好’。”",
        "“好”和“坏”",
        "《书》《画》",
        "[1]【甲】",
        "[链接](甲)",
        "1)苹果 2）梨",
    ],
)
def test_pairs_that_are_right(right):
    assert matches("bracket_pairs", right) == []


@pytest.mark.parametrize("right", ["全文用５０％和６０％。", "５％，６％，5%", "ＡＢ９", "5架Ｆ—１４战斗机"])
def test_full_width_numbers_that_are_no_exception(right):
    assert matches("mixed_width", right) == []


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("5家增长５０％", "5家增长50%"),
        ("增长5％、6％到７％", "增长5％、6％到7％"),
        ("5%，６％、７％", "5%，６％、７％"),
    ],
)
def test_a_number_and_its_percent_sign_have_one_width(wrong, right):
    assert apply_fixes(wrong, matches("mixed_width", wrong)) == right


def test_two_kinds_of_dash_are_in_order():
    assert matches("range_dash", "1949—1950年来了3～4人，6～8月来了人。") == []
    assert [match.source for match in matches("range_dash", "1-5月，6-7月，3～4人，2—3天。")] == ["～", "—"]
