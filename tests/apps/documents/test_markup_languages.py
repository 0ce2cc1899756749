"""Where prose is found in MDX, AsciiDoc, Org, Typst, notebooks, Vue components and strings of programs."""

import json

import pytest

from nmspeller.apps.documents.document import from_bytes
from nmspeller.apps.documents.prose import passages


def prose(text, format):
    return [passage.text for passage in passages(text, format)]


def test_mdx():
    text = """import A from "甲"
export const meta = {
  title: "题"
}

# 标题 {1 + 1}

<Note title="提示" x={{a: "b>c 码"}}>
  这是**粗**字<Badge text="x"/>继续。
</Note>

正文{props.名}完 `代码 {`。

```js
const a = "代码"
```
"""
    assert prose(text, "mdx") == ["标题", "提示", "这是粗字继续。", "正文完 。"]


def test_asciidoc():
    text = """= 题目
:description: 说明
:变量: 值

// 注释
== 第一节

这是*粗*体和`代码`，link:http://a.b[链接]，见<<ref,第二节>>，
继续。footnote:[脚注]

.块题
[source,java]
----
String 代码;
----

* 项一
. 编号

术语:: 定义

|===
|甲 |乙
|===

image::图.png[图注,300]

 字面

NOTE: 提示
////
注释
////
"""
    assert prose(text, "asciidoc") == [
        "题目", "说明", "第一节", "这是粗体和，链接，见第二节，继续。", "脚注", "块题", "项一", "编号",
        "术语", "定义", "甲", "乙", "图注", "提示",
    ]  # fmt: skip


def test_asciidoc_quotation_marks_are_prose_and_code_is_none():
    text = """他说："`不*可*以`"，又说：'`好`'。命令"`码`"和`"码"`。\n"""
    assert prose(text, "asciidoc") == ['他说：不可以，又说：好。命令""和。']


def test_asciidoc_index_terms_that_are_not_shown():
    assert prose("公园(((公园, 北京)))很大，((湖))也大。\n", "asciidoc") == ["公园很大，湖也大。"]


@pytest.mark.parametrize("style", ["source,python", ",java", "listing", "literal", "stem", "pass", "comment"])
def test_asciidoc_paragraphs_of_code(style):
    assert prose(f"[{style}]\n.块题\n码一\n码二\n\n正文\n", "asciidoc") == ["块题", "正文"]
    assert prose(f"[{style}]\n----\n码\n----\n正文\n", "asciidoc") == ["正文"]


def test_org():
    text = """#+TITLE: 题目
#+OPTIONS: 选项
* TODO [#A] 标题 :标签:
:PROPERTIES:
:键: 值
:END:
正文*粗*和=代码=，[[http://a.b][链接]]，
继续[fn:1]。
** 小标题
段落
# 注释
- [X] 完成
- 术语 :: 定义
| 甲 | 乙 |
|----+----|
#+BEGIN_SRC python
# 代码
#+END_SRC
#+begin_quote
引文
#+end_quote
: 定宽
"""
    assert prose(text, "org") == [
        "题目", "标题", "正文粗和，链接，继续。", "小标题", "段落", "完成", "术语", "定义", "甲", "乙",
        "引文",
    ]  # fmt: skip


def test_typst():
    text = """#import "甲.typ": *
#set text(font: "宋体")
#show: conf.with(
  title: "题目",
  abstract: [摘要*粗*],
)
= 标题 <标签>
我#strong[门]去#text(red)[公]园，见@fig 。// 注释
公式$x="数"$和`代码`。/* 块 */

#figure(
  image("图.png"),
  caption: [图注],
)
- 项
/ 术语: 定义
转义\\#字 [括号]
"""
    assert prose(text, "typst") == [
        "题目", "摘要粗", "标题", "我门去公园，见 。公式和。", "图注", "项", "术语: 定义转义字 [括号]",
    ]  # fmt: skip


def test_typst_footnotes_stand_alone():
    assert prose("我们#footnote[脚*注*。]去#emph[公]园。", "typst") == ["我们", "脚注。", "去公园。"]


NOTEBOOK = {
    "cells": [
        {
            "cell_type": "markdown",
            "source": ["# 标题\n", "\n", '我**门**去"公园"，\n', "继续`代码`。\n", "- 项"],
        },
        {"cell_type": "code", "source": ["# 注释"], "outputs": [{"data": {"text/plain": ["输出"]}}]},
        {"source": "单串\n\n二段", "metadata": {"键": "元"}, "cell_type": "markdown"},
    ]
}


@pytest.mark.parametrize("indent", [None, 1])
def test_notebooks(indent):
    text = json.dumps(NOTEBOOK, ensure_ascii=False, indent=indent)
    assert prose(text, "ipynb") == ["标题", "我门去公园，继续。", "项", "单串", "二段"]


def test_vue():
    text = """<template>
  <p title="提示">你好{{ 名 }}，<template #x>槽</template>
  <i placeholder="请填" :label="变量" label="姓名"/></p>
</template>
<script setup lang="ts">
// 注释
const a = "串"
</script>
<style>/* 样 */</style>
<i18n>{"zh": {"键": "值"}}</i18n>
"""
    expected = ["提示", "你好，", "槽", "请填", "姓名", "注释", "值"]
    assert prose(text, "vue") == expected
    assert prose(text, "vue+strings") == [*expected[:-1], "串", "值"]


def test_strings_of_programs_are_read_on_request():
    text = '''# 注释
def f():
    """文档
    串"""
    a = "我们" + '单\\n引' + f"模{名}板"  # 行尾
    b = """三
引号"""
'''.encode()
    comments = ["注释", "文档串", "行尾"]
    strings = ["注释", "文档串", "我们", "单", "引", "模板", "行尾", "三引号"]
    assert [one.text for one in from_bytes("a.py", text).passages] == comments
    assert [one.text for one in from_bytes("a.py", text, format="code+strings").passages] == strings
    assert prose('let x: &\'a str = "中文"; // 注', "code+strings:rust") == ["中文", "注"]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<img alt="图 &amp; 表" src="路">', ["图  表"]),
        ("<p title='题'>文<input placeholder=\"请填\"></p>", ["题", "文", "请填"]),
        ('<button aria-label="关闭">×</button>', ["关闭"]),
        ('<meta name="description" content="说明"><meta name="author" content="人名">', ["说明"]),
        ('<meta property="og:title" content="题目">', ["题目"]),
        ('<img alt="{{ 名 }}的图" data-x="数">', ["的图"]),
        ('<p lang="ja" title="勉強">文</p>', []),
    ],
)
def test_attributes_that_people_read(html, expected):
    assert prose(html, "html") == expected
