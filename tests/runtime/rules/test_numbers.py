import pytest

from nmspeller.runtime.rules import RULES
from nmspeller.runtime.rules.chinese_numerals import value
from nmspeller.text.protect import protected_spans


def matches(rule, text):
    return list(RULES[rule].matches(text, protected_spans(text)))


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("十", 10),
        ("十二", 12),
        ("三十一", 31),
        ("廿五", 25),
        ("卅", 30),
        ("二〇二四", 2024),
        ("07", 7),
        ("〇五", 5),
    ],
)
def test_values(number, expected):
    assert value(number) == expected


@pytest.mark.parametrize("number", ["七八", "十十", "", "十一二"])
def test_what_is_no_number(number):
    assert value(number) is None


@pytest.mark.parametrize(
    "right",
    [
        "2024年2月29日",
        "一九四六年七八月间",
        "1950年九十月间",
        "一九三八年二月廿九日",
        "话剧《5月35日》上演了。",
        "会议定于〇月〇日召开。",
        "光绪三年二月三十日",
        "今年有2月30日吗？",
        "生产日期竟然是2月30日！",
        "输入无效的日期（如2015-02-31）时返回空值。",
        "农历二月三十日",
        "12月31日",
        "比分是25:61",
        "画面比例16:90",
        "晚上12:30",
        "2019年10月",
        "编号2011-30-12-7",
        "一三零二月五日。",
        "比赛以25:61结束",
        "主队昨日98:87险胜，客队12日102:98告负。",
        "丁酉年二月三十日",
        "康熙五年二月三十日",
        "藏历二月三十日",
        "伊斯兰历2月30日",
        "儒略历1900年2月29日",
        "1644年二月三十日",
        "编号2015-13-45的产品，批号：2019-31-12",
        "代码2019-02-31有效",
        "按4月31号文执行，住在4月31号别墅。",
    ],
)
def test_dates_that_are_possible(right):
    assert matches("impossible_date", right) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "昨日25:30到站",
        "明天上午10:75开会",
        "2019年2月30日",
        "二〇一九年二月三十日",
        "1999年四月三十二日",
        "2019-13-05",
        "4月31号来",
        "编号已满，2019-02-31截止",
        "型号大会定于4月31日",
    ],
)
def test_dates_that_are_not_possible(wrong):
    assert len(matches("impossible_date", wrong)) == 1


def test_the_note_says_why():
    (match,) = matches("impossible_date", "2024年4月31日")
    assert (match.source, match.target, str(match.note)) == ("2024年4月31日", None, "This month has 30 days.")
    assert str(matches("impossible_date", "2024年13月")[0].note) == "There is no month 13."


@pytest.mark.parametrize(
    "right",
    [
        "自2026年11月17日，周日休息",
        "2026年11月17日星期二",
        "2026年11月17日（周二）",
        "2026年11月17日周三元来了",
        "2026年2月30日星期一",
    ],
)
def test_weekdays_that_fit_or_are_none(right):
    assert matches("weekday", right) == []


def test_the_right_weekday_is_named():
    (match,) = matches("weekday", "2026年11月17日，周三，晴。")
    assert (match.source, str(match.note)) == ("周三", "This date is a 周二.")
    assert [each.source for each in matches("weekday", "自2026年11月17日（周三）起休息")] == ["周三"]


@pytest.mark.parametrize(
    "right",
    [
        "共3,000元",
        "1999，2000年",
        "第2，300页",
        "百分之五",
        "5%",
        "２０２４年",
        "1,2,3000",
        "March 1,2000年",
        "去年招了86，120名是女生",
        "A9９",
    ],
)
def test_numbers_that_are_right(right):
    assert matches("number_format", right) == []


@pytest.mark.parametrize(
    "right",
    [
        "约三百人",
        "三百人左右",
        "约他左右为难",
        "三十多人",
        "降低一半",
        "增加两倍",
        "三年以上",
        "超过三千名60岁以上的老人",
        "来了大约五十位四十岁左右的母亲",
        "每月可节约三百元左右",
        "我们预约三点左右见面",
        "他每天开大概三十公里上下班",
        "通报了至少15名厅级以上干部",
        "超过10名少将以上军官，至少5个本科以上学历的人",
        "他约三个朋友左右邻居一起来",
        "他约三点左右见面",
        "约300家上下游企业，约50张上下铺，大约三百字上下文",
        "二百余多媒体教室",
        "把图缩小2倍",
    ],
)
def test_amounts_that_are_right(right):
    assert matches("redundant_amount", right) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "约 300 人左右",
        "大约 300 人左右到场",
        "他们约三百人左右",
        "约三百名学生左右",
        "约五十岁上下",
        "超过三百人以上",
        "至少 3 年以上",
        "超过三百人以上参加高中毕业会",
        "三百余多种",
        "降低 2 倍",
    ],
)
def test_amounts_that_say_one_thing_twice(wrong):
    assert len(matches("redundant_amount", wrong)) == 1


@pytest.mark.parametrize(
    ("wrong", "target"),
    [("86，000名", "86,000"), ("1，234，567元", "1,234,567"), ("3，000元", "3,000"), ("86，120名", "86,120")],
)
def test_thousands_are_parted_by_a_half_width_comma(wrong, target):
    assert [match.target for match in matches("number_format", wrong)] == [target]
