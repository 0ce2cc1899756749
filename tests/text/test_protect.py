import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import assert_linear
from tests.text.strategies import texts

from nmspeller.text.protect import ProtectedWords, Span, protected_spans


def found(text: str) -> list[tuple[str, str]]:
    return [(span.kind, text[span.start : span.stop]) for span in protected_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("见https://a.cn/b?c=1，再看", [("url", "https://a.cn/b?c=1")]),
        ("（www.a.cn）。", [("url", "www.a.cn")]),
        ("见HTTP://A.CN/x.html.", [("url", "HTTP://A.CN/x.html")]),
        ("写给li.lei+x@mail.a.cn吧", [("email", "li.lei+x@mail.a.cn")]),
        ("谢谢@小明 帮忙", [("mention", "@小明")]),
        ("今天#天气 真好#出门", [("tag", "#天气 真好#")]),
        ("用`天汽`表示", [("code", "`天汽`")]),
        ("用``天`汽``表示", [("code", "``天`汽``")]),
        ("先\n```py\n天汽 = 1\n```\n后", [("code", "```py\n天汽 = 1\n```")]),
        ("先\n~~~\n天汽\n~~~~\n后", [("code", "~~~\n天汽\n~~~~")]),
        ("设$x_1$为", [("math", "$x_1$")]),
        (r"设$\text{天汽}$为", [("math", r"$\text{天汽}$")]),
        ("设$$天汽\n+1$$为", [("math", "$$天汽\n+1$$")]),
        (r"设\(天汽\)和\[天汽\]为", [("math", r"\(天汽\)"), ("math", r"\[天汽\]")]),
        ("从$5涨到$10", [("number", "$5"), ("number", "$10")]),
        ("跑了3.5公里", [("number", "3.5公里")]),
        ("气温25℃，湿度60%", [("number", "25℃"), ("number", "60%")]),
        ("重3 kg，快100km/h", [("number", "3 kg"), ("number", "100km/h")]),
        ("花了２００万元", [("number", "２００万元")]),
        ("2024年10月", [("number", "2024年"), ("number", "10月")]),
        ("学C++和don't吧", [("latin", "C++"), ("latin", "don't")]),
        ("去café吧", [("latin", "café")]),
    ],
)
def test_what_is_protected(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "今天天气很好。",
        "~~~好开心\n今天天气很好。",
        "```\n没有写完",
        "一个`反引号",
        "上一段`\n\n下一段`",
        "# 标题",
        "上一段\\(\n\n下一段\\)",
        "看@ 这里",
        "\ud800👩\u200d🔬",
    ],
)
def test_what_is_not_protected(text: str) -> None:
    assert found(text) == []


def test_only_the_number_is_protected_not_the_words_beside_it() -> None:
    assert found("3只猫和2个人") == [("number", "3"), ("number", "2")]


def test_code_hides_what_is_inside_and_math_cannot_start_there() -> None:
    assert found("`$`和`x@y.cn`，$") == [("code", "`$`"), ("code", "`x@y.cn`")]


def test_the_users_words_are_found_wherever_they_overlap() -> None:
    words = ProtectedWords(["天地会", "地会所", "会", "", "天地会"])
    assert len(words) == 3
    assert words.spans("去天地会所，会议") == [Span(1, 5, "word"), Span(6, 7, "word")]
    assert words.spans("去天地会") == [Span(1, 4, "word")]


def test_no_words_match_nothing() -> None:
    assert ProtectedWords([]).spans("天地") == []


@given(
    st.lists(st.text("天地a\ud800😀", min_size=1, max_size=3), max_size=6),
    st.text("天地a\ud800😀", max_size=30),
)
def test_words_cover_exactly_their_occurrences(words: list[str], text: str) -> None:
    covered = {
        place
        for word in words
        for start in range(len(text))
        if text.startswith(word, start)
        for place in range(start, start + len(word))
    }
    spans = ProtectedWords(words).spans(text)
    assert {place for span in spans for place in range(span.start, span.stop)} == covered


@given(texts)
def test_spans_are_in_order_and_disjoint(text: str) -> None:
    spans = protected_spans(text)
    assert all(0 <= span.start < span.stop <= len(text) for span in spans)
    assert all(before.stop <= after.start for before, after in pairwise(spans))
    assert all(span.kind for span in spans)


@given(texts)
def test_a_code_span_protects_whatever_it_holds(text: str) -> None:
    inside = "".join(character for character in text if character not in "`\n\r")
    whole = f"`{inside}字`"
    assert found(whole) == [("code", whole)]


ADVERSARIAL = [
    "`",
    "`a``",
    "```x\n",
    "~~~\n```y\n",
    "$",
    "$ x",
    "$$",
    "\\(",
    "\\",
    "@",
    "a@",
    "a.",
    "a%",
    "#",
    "#a ",
]
ADVERSARIAL += [
    "www.字.",
    "http://字.a.",
    "http://a/字_(字",
    "http://a/字-",
    "http://a/b字1",
    "http://a/b字.ab",
    "http://a/b字?a",
    "1",
    "1.",
    "http://",
    "www.",
    "a@a.",
    "字",
    "a" * 99 + "@",
    "1,",
    "\n",
    "\ud800",
    "万",
    "零",
    "壹万",
    "元",
]


@pytest.mark.slow
@pytest.mark.parametrize("unit", ADVERSARIAL)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    assert_linear(lambda length: protected_spans(unit * (length // len(unit))), 40_000)


@pytest.mark.slow
def test_a_hundred_thousand_words_are_built_in_linear_time() -> None:
    choose = random.Random(0)
    words = {
        "".join(chr(choose.randrange(0x4E00, 0x9FA6)) for _ in range(choose.randint(2, 4)))
        for _ in range(110_000)
    }
    listed = sorted(words)[:100_000]

    assert_linear(lambda count: ProtectedWords(listed[:count]), len(listed))
    matcher = ProtectedWords(listed)
    assert len(matcher) == 100_000
    assert matcher.spans(f"了{listed[5]}了") == [Span(1, 1 + len(listed[5]), "word")]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("打开 https://example.com/路门?q=1 看看", "https://example.com/路门?q=1"),
        ("百科是https://example.com/wiki/中国/历史?a=b。", "https://example.com/wiki/中国/历史?a=b"),
        ("请看 https://example.com/wiki/我门的公园 这一页。", "https://example.com/wiki/我门的公园"),
        ("（见https://example.com/wiki/我门的公园）", "https://example.com/wiki/我门的公园"),
        ("请看https://example.com/wiki/我门的公园", "https://example.com/wiki/我门的公园"),
        ("请看https://example.com/我们走吧。", "https://example.com/"),
        ("请看https://example.com/文件/我门的报告.pdf。", "https://example.com/文件/我门的报告.pdf"),
        ("请看https://example.com/我门-2.html，谢谢", "https://example.com/我门-2.html"),
        ("请看https://example.com/a_我门.pdf 吧", "https://example.com/a_我门.pdf"),
        ("请看https://example.com/wiki/我门_(歌曲)吧", "https://example.com/wiki/我门_(歌曲)"),
        ("搜https://example.com/?q=我门+公园 吧", "https://example.com/?q=我门+公园"),
        ("请看http://我门的公园.中国/，谢谢", "http://我门的公园.中国/"),
        ("请看http://我门的公园.公司吧", "http://我门的公园.公司"),
        ("请看www.我门的公园.com吧", "www.我门的公园.com"),
        ("请看http://www.example.com.我们走吧", "http://www.example.com"),
        ("请看https://example.com/a我们走吧.", "https://example.com/a"),
        ("请看https://example.com/2023年我门的报告.pdf。", "https://example.com/2023年我门的报告.pdf"),
        ("请看https://example.com/第1章/我门_2月.html吧", "https://example.com/第1章/我门_2月.html"),
        ("搜https://example.com/?q=iPhone我门&page=2吧", "https://example.com/?q=iPhone我门&page=2"),
        ("请看https://example.com/a我门?q=1 吧", "https://example.com/a我门?q=1"),
        ("看过https://example.com/a了吗?", "https://example.com/a"),
        ("https://example.com/a太好笑了//@张三：好", "https://example.com/a"),
        ("用https://example.com/a和/或b都行", "https://example.com/a"),
        ("从https://example.com/a下载setup.exe吧", "https://example.com/a"),
        ("照https://example.com/a学.NET吧", "https://example.com/a"),
        ("访问https://example.com/abc看看", "https://example.com/abc"),
    ],
)
def test_hanzi_belong_to_an_address_inside_it_or_closed_off(text: str, address: str) -> None:
    assert [text[span.start : span.stop] for span in protected_spans(text) if span.kind == "url"] == [address]


def test_amounts_in_financial_numerals_are_protected():
    """Every amount of the assets, in both scripts, and what only looks like one is not."""
    path = Path(__file__).parents[1] / "assets/clean/numerals.tsv"
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    rows = [row for row in rows if re.search("[元圆圓角分整拾佰仟].", row[2])]
    assert len(rows) >= 200
    numerals = re.compile("[壹贰貳叁叄參肆伍陆陸柒捌玖拾佰仟]")
    for _, sentence, term in rows:
        covered = {place for start, stop, _ in protected_spans(sentence) for place in range(start, stop)}
        first = sentence.index(term)
        missed = [
            term[place]
            for place in range(len(term))
            if numerals.match(term[place]) and first + place not in covered
        ]
        assert not missed, sentence


@pytest.mark.parametrize(
    "text",
    ["陆续有人来了", "陆陆续续", "肆无忌惮", "伍先生来了", "万万没想到", "收拾房间", "零零碎碎", "大陆"],
)
def test_words_with_such_numerals_stay_open(text):
    assert protected_spans(text) == []


@pytest.mark.parametrize(
    ("text", "protected"),
    [
        ("@小明我门明天去公园完吧，好吗？", ["@小明我门"]),
        ("@人民日报评论部 转发", ["@人民日报评论部"]),
        ("//@爱吃鱼的小猫咪：好", ["@爱吃鱼的小猫咪"]),
        ("@tom_2我门去", ["@tom_2"]),
        ("#我爱北京#真好", ["#我爱北京#"]),
        ("编号#我门12去公园，编号#13", []),
    ],
)
def test_mentions_and_tags_end_before_the_sentence(text: str, protected: list[str]) -> None:
    spans = [span for span in protected_spans(text) if span.kind in ("mention", "tag")]
    assert [text[span.start : span.stop] for span in spans] == protected
