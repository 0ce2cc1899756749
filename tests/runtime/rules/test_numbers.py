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
    ],
)
def test_dates_that_are_possible(right):
    assert matches("impossible_date", right) == []


def test_the_note_says_why():
    (match,) = matches("impossible_date", "2024年4月31日")
    assert (match.source, match.target, str(match.note)) == ("2024年4月31日", None, "This month has 30 days.")
    assert str(matches("impossible_date", "2024年13月")[0].note) == "There is no month 13."


@pytest.mark.parametrize(
    "right",
    ["2026年11月17日星期二", "2026年11月17日（周二）", "2026年11月17日周三元来了", "2026年2月30日星期一"],
)
def test_weekdays_that_fit_or_are_none(right):
    assert matches("weekday", right) == []


def test_the_right_weekday_is_named():
    (match,) = matches("weekday", "2026年11月17日，周三，晴。")
    assert (match.source, str(match.note)) == ("周三", "This date is a 周二.")


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
    ],
)
def test_amounts_that_are_right(right):
    assert matches("redundant_amount", right) == []
