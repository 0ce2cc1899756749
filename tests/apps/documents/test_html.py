"""What of HTML is prose: what a reader sees, not tags, values, scripts or templates."""

import pytest
from tests.growth import assert_linear

from nmspeller.apps.documents.prose import passages


def prose(text):
    return [passage.text for passage in passages(text, "html")]


def test_html():
    html = """<!doctype html><title>题目</title><style>p{content:"样"}</style>
    <p title="大 > 小">我们<b class='x'>去</b>公园&nbsp;玩<br/>再来<!-- 注 --></p>
    <pre>代<b>码</b></pre><p>这是<code>码</code>字<script>s = "<script>脚</p>";</script></p>
    <p>后<ruby>字<rt>音</rt></ruby></p>
    未闭<a href="中"""
    assert prose(html) == ["题目", "大 > 小", "我们去公园玩", "再来", "这是字", "后字", "未闭"]


def test_html_readings_need_no_closing_tag():
    html = "<ruby>我<rt>沃</ruby>们<ruby>去<rp>（<rt>趣<rp>）</RUBY>公<ruby>园<rt>元</rt><rt>员</rt></ruby>玩"
    assert prose(html) == ["我们去公园玩"]


def test_html_quotes_matter_only_around_a_value():
    assert prose("<p title=it's>文</p><p title = 'a > b'>字</p>") == ["文", "字"]
    assert prose('<img alt="19" 寸" src="a.png">文<a href="b">字</a>') == ["文字"]


@pytest.mark.parametrize(
    "program",
    [
        "{{ 变量 }}",
        "{% if a > b and c == '串' %}",
        "{# 注 #}",
        "<% if (a > b) { print('串') } %>",
        "<?php if ($a->b) { echo '串'; } ?>",
        "<?= $a->b('串') ?>",
        "<b {% if a > b %}title='串'{% endif %}>",
    ],
)
def test_html_of_templates(program):
    assert prose(f"<p>前{program}后</p>") == ["前后"]


def test_html_that_only_looks_like_a_program():
    assert prose("<?xml:namespace prefix = o />文 {单} {{ 双 字 <%") == ["文 {单} {{ 双 字 <%"]


def test_html_pictures_stand_inside_a_sentence():
    assert prose("我<img src=a.png>门<math><mi>数</mi></math>去") == ["我门去"]


@pytest.mark.parametrize(
    "foreign",
    [
        '<span lang="ja">勉強</span>',
        "<q lang=ja-JP>勉<b>強</b>中<br>です</q>",
        "<span LANG='ko'>漢字</span>",
        '<i title="a > b" xml:lang="ja">勉強</i>',
        '<span lang="ja">勉<img src=a.png>強<rt>べん</rt></span>',
    ],
)
def test_html_in_another_language(foreign):
    assert "".join(prose(f"<p>前{foreign}后</p>")) == "前后"


@pytest.mark.parametrize(
    "declared",
    [
        'lang="zh-Hant"', "lang=ZH_CN", "lang=en", "lang=cn", 'lang=""', 'lang="{{ page.lang }}"',
        'hreflang="ja"', 'data-lang="ja"', """title='a lang="ja" b'""",
    ],
)  # fmt: skip
def test_html_that_may_well_be_chinese(declared):
    assert prose(f"<p>前<span {declared}>文</span>后</p>") == ["前文后"]


def test_html_in_another_language_may_quote_chinese():
    html = '<div lang="ja"><p>勉強<p>「<q lang="zh">我们<i lang="ja">勉</i>去</q>」強</div>后'
    assert prose(html) == ["我们去", "后"]


def test_html_pages_in_japanese_or_korean():
    assert prose('<html lang="ja"><body lang="en"><p>勉強</p><p lang="zh">我们</p></body>') == ["我们"]
    assert prose('<body lang="ko-KR">漢字') == []


@pytest.mark.parametrize(
    "foreign",
    [
        '<p lang="ja">勉強<p>',
        '<p lang="ja">勉強<div>',
        '<ul><li lang="ja"><p>勉強<li>',
        '<table><tr><td lang="ja">勉強<td>',
        '<table><tr lang="ja"><td>勉強<tr><td>',
        '<dl><dt lang="ja">勉強<dd>',
        '<div><b lang="ja">勉強</div>',
        '<p lang="ja">勉強</i>強</p></p>',
        '<br lang="ja"><img lang="ja"/>',
    ],
)
def test_html_in_another_language_ends_where_its_element_does(foreign):
    assert prose(f"{foreign}我们") == ["我们"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["<b lang=ja><b lang=zh>", "<b>", "<p lang=ja>", "</b>", '<a lang="', "<a lang "]
)
def test_hostile_html_takes_linear_time(unit):
    assert_linear(lambda length: prose(unit * (length // len(unit)) + "</i>" * (length // 5)), 100_000)
