"""What proofreading programs are expected to find without a model, each example in a sentence."""

import pytest

from nmspeller.runtime.rules import RULES
from nmspeller.text.protect import protected_spans


def found(rule, text):
    return [(match.source, match.target) for match in RULES[rule].matches(text, protected_spans(text))]


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ("这本书汇集了他一生的精萃。", "精萃", "精粹"),
        ("他长得粗旷，心却很细。", "粗旷", "粗犷"),
        ("隔壁的老俩口每天一起散步。", "老俩口", "老两口"),
        ("厨房的水笼头坏了。", "水笼头", "水龙头"),
        ("他沉缅于网络游戏。", "沉缅", "沉湎"),
        ("请大家欣尝这首曲子。", "欣尝", "欣赏"),
        ("这类题裁的小说很少见。", "题裁", "题材"),
        ("这件事至今仍是一个迷团。", "迷团", "谜团"),
        ("我们偶而去公园走走。", "偶而", "偶尔"),
        ("这是床第之间的私语。", "床第之间", "床笫之间"),
        ("那时侯我们还很小。", "那时侯", "那时候"),
        ("老人柱着拐杖慢慢走来。", "柱着拐杖", "拄着拐杖"),
        ("渐渐沥沥的小雨下了一夜。", "渐渐沥沥", "淅淅沥沥"),
        ("请按下红色的按纽。", "按纽", "按钮"),
        ("湖水清沏见底。", "清沏", "清澈"),
        ("他气喘嘘嘘地跑上楼。", "气喘嘘嘘", "气喘吁吁"),
        ("公司已经布署了新的工作。", "布署", "部署"),
        ("双方昨天签定了合同。", "签定", "签订"),
        ("这是会议记要，请查收。", "会议记要", "会议纪要"),
        ("特此涵告，请予回复。", "涵告", "函告"),
        ("我们住在海边的渡假村。", "渡假村", "度假村"),
    ],
)
def test_words_that_are_no_words(text, wrong, right):
    assert found("common_word", text) == [(wrong, right)]


@pytest.mark.parametrize("form", ["帐户", "其它", "想像", "了望", "了望台", "罗嗦", "报导"])
def test_forms_that_are_not_recommended(form):
    assert found("recommended_form", f"这里有“{form}”两个字。") == [(form, None)]


@pytest.mark.parametrize(
    ("rule", "text", "wrong", "right"),
    [
        ("impossible_date", "会议定于2024年13月5日召开。", "2024年13月5日", None),
        ("impossible_date", "会议定于二月三十日召开。", "二月三十日", None),
        ("impossible_date", "发车时间是25:61，请勿迟到。", "25:61", None),
        ("number_format", "总共花了1,2000元。", "1,2000", None),
        ("number_format", "今年增长了百分之五%。", "%", ""),
        ("number_format", "这台机器卖3，000元。", "3，000", "3,000"),
        ("redundant_amount", "昨天约有三百人左右到场。", "约有三百人左右", None),
        ("redundant_amount", "他看上去三十余多岁。", "余多", None),
        ("redundant_amount", "成本降低两倍。", "降低两倍", None),
        ("mixed_width", "我们有9个人，他们有９个。", "９", "9"),
        ("mixed_width", "第一季度增长5%，第二季度增长6％。", "％", "%"),
        ("address_marks", "请访问http：//example.com看看。", "：//", "://"),
        ("ellipsis_dash", "我想......还是算了。他说……", "......", "……"),
        ("ellipsis_dash", "他是老师--一位好老师。这是——那也是。", "--", "——"),
        ("doubled_punctuation", "他走了。。。没有回来。", "。。。", "……"),
        ("weekday", "会议定于2026年11月17日星期三召开。", "星期三", None),
    ],
)
def test_numbers_dates_and_marks(rule, text, wrong, right):
    assert found(rule, text) == [(wrong, right)]


def test_three_kinds_of_dash_in_ranges():
    text = "1-5月销量上升，6～8月下降，9—12月持平，明年1-2月再看。"
    assert found("range_dash", text) == [("～", None), ("—", None)]


@pytest.mark.parametrize(
    ("rule", "text", "extra"),
    [
        ("doubled_character", "他在在北京工作。", "在"),
        ("doubled_character", "这是是我的书。", "是"),
        ("doubled_character", "会议由由校长主持。", "由"),
        ("doubled_character", "我们对对这个问题很关心。", "对"),
        ("doubled_word", "这个这个问题很难解决。", "这个"),
        ("doubled_word", "他已经已经走了。", "已经"),
    ],
)
def test_doubled_function_words(rule, text, extra):
    assert found(rule, text) == [(extra, "")]


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        ("unbalanced_marks", "他说：“我明天来。\n\n第二段没有引号。", [("“", None)]),
        ("bracket_pairs", "【重要] 明天开会。", [("]", "】")]),
        ("bracket_pairs", "(二）今后的工作", [("(", "（")]),
        ("bracket_pairs", "“他说“好”。”", [("“", "‘"), ("”", "’")]),
        ("bracket_pairs", "我读过《《红楼梦》》。", [("《《", "《"), ("》》", "》")]),
    ],
)
def test_marks_that_do_not_match(rule, text, expected):
    assert found(rule, text) == expected


@pytest.mark.parametrize(
    ("document", "form"),
    [
        ("我们进去以后，皇後没有来。", "皇後"),
        ("我们都在。他姓範，是我的好朋友。", "姓範"),
        ("我们的房间很乾净。", "乾净"),
        ("她的頭发很長，還沒有洗。", "頭发"),
        ("這個人姓範，還沒有來。", "姓範"),
    ],
)
def test_words_of_mixed_scripts(document, form):
    assert found("mixed_script", document) == [(form, None)]


@pytest.mark.parametrize(
    ("text", "usual", "other"),
    [
        ("请先登录，登录以后再试；登陆成功会有提示。", "登录", "登陆"),
        ("请注册账号，记住账号，保管好帐号。", "账号", "帐号"),
        ("还有其他人，其他书，也有其它东西。", "其他", "其它"),
        ("先做图像处理，再做图像识别，最后是图象分类。", "图像", "图象"),
    ],
)
def test_one_notion_written_in_two_ways(text, usual, other):
    [match] = RULES["term_variants"].matches(text, protected_spans(text))
    assert match.source == other
    assert str(match.note) == f"The text also has {usual} (2×; this form 1×)."
