"""Where prose is found, format by format, and that edits come back to the right place."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmspeller.apps.documents.prose import Passage, ProseSpan, format_of, passages
from nmspeller.errors import InputError
from nmspeller.runtime.correction import apply_edits
from nmspeller.runtime.findings import Edit, Reason


def prose(text, format):
    return [passage.text for passage in passages(text, format)]


MARKDOWN = """\
---
title: 前言
---
# 一个**大**标题 #

第一段有`代码`和[链接](http://a.b/路 "题")，![图](a.png)，
换行继续<b>粗</b>字，\\
再换行。

> 引用一
> 引用二

- 列表项
  1. 里面
- [ ] 任务

```py
# 围栏
```

    缩进

<div>块</div>

| 表头 | 第二 |
|---|---|
| 单元 | 格子 |

标题二
====

[名]: http://x/ "题"

公式 $x=数$ 完[^1]。

[^1]: 脚注
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_markdown(line_end):
    assert prose(MARKDOWN.replace("\n", line_end), "markdown") == [
        "前言",
        "一个大标题",
        "第一段有和链接，图，换行继续粗字，再换行。",
        "引用一引用二",
        "列表项",
        "里面",
        "任务",
        "块",
        "表头",
        "第二",
        "单元",
        "格子",
        "标题二",
        "公式  完。",
        "脚注",
    ]


def test_markdown_that_is_never_closed():
    assert prose("甲\n\n```\n乙", "markdown") == ["甲"]
    assert prose("甲 `乙", "markdown") == ["甲 乙"]
    assert prose("---\n甲", "markdown") == ["甲"]


def test_markdown_labels_of_links_are_no_prose():
    definition = "\n\n[我门  去 A]: a.html\n\n> [引文]:\n> b.html\n"
    assert prose(f"见[我门 去\na]，![我门 去 A][]和[引文]。{definition}", "markdown") == ["见，和。"]
    assert prose(f"见[文字][我门 去 A]，[我门 去 A](b.html)。{definition}", "markdown") == [
        "见文字，我门 去 A。"
    ]
    assert prose(f"见[别的]和[另外][]与[我门 去 A][另外]。{definition}", "markdown") == [
        "见别的和另外与我门 去 A。"
    ]


@pytest.mark.parametrize("before", ["", "> ", "- ", "1. ", "> - ", "- > ", "* [ ] 甲\n\n  "])
@pytest.mark.parametrize(
    "target", ["http://a/路", '<a 路> "题"', "a\n{}'题\n{}目'", "\n{}a.html", "# (题 目)"]
)
def test_markdown_targets_of_links_wherever_they_stand(before, target):
    inside = re.sub("[^>\n]", " ", before.rpartition("\n")[2])
    definition = before + "[我门]: " + target.replace("{}", inside)
    found = prose(f"{definition}\n{inside}正文\n\n见[我门]。\n", "markdown")
    assert found == [*(["甲"] if "甲" in before else []), "正文", "见。"]


def test_markdown_that_only_looks_like_the_target_of_a_link():
    assert prose("- [说明]: 这是 文字\n", "markdown") == ["说明: 这是 文字"]
    assert prose("段落\n[名]: 文字\n", "markdown") == ["段落\n名: 文字"]
    assert prose("- [名称]：说明\n", "markdown") == ["名称：说明"]


@pytest.mark.parametrize("before", ["", "> ", "- "])
def test_markdown_footnotes_are_prose_with_all_that_is_indented(before):
    inside = re.sub("[^>\n]", " ", before)
    lines = ["[^注]: 文字", "    接着", "", "    第二段", "", "        码", "[^二]: 别的", "", "正文"]
    text = before + "\n".join([lines[0], *(inside + line for line in lines[1:])])
    assert prose(text, "markdown") == ["文字接着", "第二段", "别的", "正文"]
    assert prose("[^1]:\n    文字\n", "markdown") == ["文字"]


@pytest.mark.parametrize(
    ("opening", "title"),
    [
        ('!!! note "题"\n    {}', '"题"'),
        ("!!! note\n    {}", None),
        ('???+ note inline end "题"\n\n    {}', '"题"'),
        ('=== "题"\n\n    {}', '"题"'),
        ("::: tip 题\n{}\n:::", "题"),
        (":::note[题]\n\n{}\n\n:::", "题"),
        ('::: {.类 名="字"}\n{}\n:::', None),
        ("> [!NOTE]\n> {}", None),
        ("> [!tip]- 题\n> {}", "题"),
        ("题\n:   {}", "题"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_markdown_admonitions_and_definitions(opening, title, line_end):
    text = f"前文\n\n{opening.replace('{}', '正文')}\n\n后文\n".replace("\n", line_end)
    assert prose(text, "markdown") == ["前文", *([title] if title else []), "正文", "后文"]


def test_markdown_exclamations_are_no_admonitions():
    assert prose("!!! 太好了\n    真的\n", "markdown") == ["!!! 太好了真的"]
    assert prose("题\n===\n文", "markdown") == ["题", "文"]


@pytest.mark.parametrize(
    "formula",
    [
        "$$\n- 数\n\n+ 数\n$$",
        "$$ 数\n# 数 $$。",
        "\\[\n数\n\\]",
        "\\begin{align*}\n数 &= 1\n\\end{align*}",
    ],
)
@pytest.mark.parametrize("before", ["", "  ", "> "])
def test_markdown_formulas_over_several_lines(formula, before):
    text = "".join(f"{before}{line}\n" for line in ["前：", *formula.split("\n"), "后"])
    assert prose(text, "markdown") == ["前：", "后"]


def test_markdown_formulas_end_with_what_holds_them():
    assert prose("```\n$$\n```\n正文\n\n$$\n数\n$$\n尾", "markdown") == ["正文", "尾"]
    assert prose("- $$ 甲\n\n乙\n\n$$ 丙", "markdown") == ["$$ 甲", "乙", "$$ 丙"]
    assert prose("$$\n数\n$$，其中", "markdown") == ["，其中"]
    assert prose("\\[注\\] 甲\n乙 \\[丙\\]", "markdown") == ["注 甲乙 丙"]


def test_markdown_code_in_nested_lists_is_no_prose():
    text = "1. 甲\n   - 乙\n     ```\n     码\n     ```\n     丙\n\n         码\n2. 丁\n   > ~~~\n   > 码\n"
    assert prose(text, "markdown") == ["甲", "乙", "丙", "丁"]


@pytest.mark.parametrize(
    "link",
    [
        "[链](a.html '题')",
        '[链](a "1) 题")',
        '[链](a\n"题\n目")',
        "[链](<a 路> (题))",
        '[链](a(路)b "题 (二)")',
        '![链](a.png){width=50% alt="字"}',
        "[链]{#锚 .类}",
    ],
)
def test_markdown_targets_titles_and_attributes_are_no_prose(link):
    assert prose(f"前{link}后", "markdown") == ["前链后"]


def test_markdown_tags_inside_a_line():
    assert prose('前<span title="大 > 小">字</span>后<!-- 注 -->尾', "markdown") == ["前字后尾"]
    assert prose("按<kbd>键</kbd>和<CODE>码</CODE>，<ruby>我<rt>沃</ruby>们", "markdown") == ["按和，我们"]
    assert prose("| 甲<br>乙 |\n|---|\n| <https://a/路>丙<张@a.b> |", "markdown") == ["甲", "乙", "丙"]


def test_markdown_comments_inside_a_line():
    assert prose("前<!-- 注 <!-- 再注 -->中<!-- 注\n-->后<!-- 未完", "markdown") == ["前中后<!-- 未完"]


def test_markdown_wiki_links_and_templates_are_no_prose():
    assert prose("见[[页面]]、![[图]]和[[页面|文字]]。", "markdown") == ["见、和。"]
    assert prose("见[[文字]](a.html)。", "markdown") == ["见文字。"]
    assert prose('甲{{ 变量 }}乙{{< 短码 题="字" >}}丙{% 标签 {"字": 1} %}丁{单}', "markdown") == [
        "甲乙丙丁{单}"
    ]


@pytest.mark.parametrize(
    "front", ["---\n题: 甲\n...\n", "---\n---\n", "---\r\n...\r\n", "+++\n+++\n", "+++\n...\n+++\n"]
)
def test_markdown_front_matter_ends_where_it_is_closed(front):
    assert prose(f"{front}正文\n\n---\n后文\n\n+++\n", "markdown") == ["正文", "后文"]


def test_subtitles():
    srt = "1\r\n00:00:01,000 --> 00:00:02,000\r\n我们<i>去</i>公\r\n园玩\r\n\r\n"
    srt += "2\r\n00:00:03,000 --> 00:00:04,000\r\n{\\an8}好的\r\n"
    assert prose(srt, "srt") == ["我们去公园玩", "好的"]
    vtt = "WEBVTT 头\n\nNOTE 注\n还是注\n\n00:01.000 --> 00:02.000 align:左\n<v 张三>你好\n"
    assert prose(vtt, "srt") == ["你好"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("block", ["NOTE\n注\n还是注", "STYLE\n::cue(左) {\n}", "REGION\nid:左", "NOTE"])
def test_subtitles_blocks_of_webvtt_that_are_not_shown(block, line_end):
    cue = "00:01.000 --> 00:02.000\n你好\nNOTE\n很好"
    for vtt in (f"WEBVTT\n\n{block}\n\n{cue}\n\n{block}\n", f"WEBVTT\n\n{block}\n{cue}\n"):
        assert "".join(prose(vtt.replace("\n", line_end), "srt")).split() == ["你好", "NOTE", "很好"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_subtitles_names_readings_and_entities_of_webvtt(line_end):
    vtt = "WEBVTT\n\n第一幕\n00:01.000 --> 00:02.000\n<ruby>我<rt>沃</rt></ruby>们&nbsp;去\n\n"
    vtt += "00:03.000 --> 00:04.000\n玩\n"
    assert prose(vtt.replace("\n", line_end), "srt") == ["我们去", "玩"]


RST = """\
标题
====

段落有``代码``和:ref:`引用`，`链接 <http://路>`_，**粗**体。

.. note:: 注意
   继续

.. code-block:: python

   # 代码

   还是

例子::

   文字块

- 项目一
- 项目二

.. 注释
.. image:: 图.png
   :alt: 图

:作者: 张三
"""


def test_rst():
    assert prose(RST, "rst") == [
        "标题",
        "段落有和，链接，粗体。",
        "注意继续",
        "例子::",
        "项目一",
        "项目二",
        "张三",
    ]


def test_rst_files_classes_and_options_are_no_prose():
    figure = ".. figure:: 图.png\n   :alt: 图\n   :target: 页.html\n\n   说明\n\n   :来源: 报纸\n"
    assert prose(figure, "rst") == ["说明", "报纸"]
    assert prose(".. container:: 类\n\n   文字\n", "rst") == ["文字"]
    assert prose(".. list-table:: 题目\n   :name: 表\n   :widths: 1 2\n\n   * 甲\n", "rst") == ["题目", "甲"]
    assert prose(".. note:: 注意\n:作者: 张三\n", "rst") == ["注意", "张三"]


def test_rst_dialogues_with_an_interpreter_are_no_prose():
    assert prose("例如\n\n>>> print('串')\n串\n\n接着\n", "rst") == ["例如", "接着"]


@pytest.mark.parametrize(
    ("language", "program", "expected"),
    [
        (
            "python",
            '#!/x/环境\n"""说明。\n\n第二\n段。\n"""\nx = "串"  # 尾\n# 一\n# 二\n',
            ["说明。", "第二段。", "尾", "一二"],
        ),
        (
            "python",
            '"""说明。\n\n    例：\n    >>> f("串")\n    "串"\n\n    接着。\n    """\n# 尾\n',
            ["说明。", "例：", "接着。", "尾"],
        ),
        ("c", '/* 块\n * 接着\n */\nint x; // 尾\n// 一\n// 二\n#include "头"\n', ["块接着", "尾", "一二"]),
        ("lua", "-- 一\n--[[ 块\n接着 ]]\nlocal x = '串'\n", ["一", "块接着"]),
        ("lua", "local s = [[ -- 串 ]] -- 注\nlocal t = [==[ ]] -- 串 ]==]\n", ["注"]),
        ("java", 'String s = """\n  // 串 "\n  """; // 注\nString t = ""; // 尾\n', ["注", "尾"]),
        ("csharp", 'var s = @"""串"" //"; // 注\nvar t = """\n// 串\n"""; // 尾\n', ["注", "尾"]),
        ("scala", 'val s = """ "// 串" """ // 注\n', ["注"]),
        ("toml", 'a = "# 串" # 注\nb = """\n# 串\n"""\n', ["注"]),
        ("shellscript", "#!/bin/sh\n# 注\necho 串\n", ["注"]),
        ("typescriptreact", "// 注\nconst a = <p>串</p>;\n", ["注"]),
        ("rust", "/// 文档\nfn f() {} // 尾\n", ["文档", "尾"]),
        ("sql", "-- 注\nselect '串'\n", ["注"]),
        ("c", '/** 说“好” -> \' ***/\n// 引 "语" \n// 最后', ["说“好”", '引 "语', "最后"]),
        ("html+django", "<!-- 注 -->", ["注"]),
        ("haskell", "{- 注 -}", ["注"]),
        ("lua", "--[==[ 注 ]] ]==]", ["注"]),
        ("pascal", "(* 注 **)", ["注"]),
    ],
)
def test_comments_of_programs(language, program, expected):
    assert prose(program, language) == expected


def test_the_inline_switch():
    assert prose("甲\nnmspeller: off\n乙\nnmspeller: on\n丙\n", "text") == ["甲", "丙"]
    assert prose("甲\n\n<!-- nmspeller: off -->\n乙\n\n<!-- nmspeller:on -->\n丙", "markdown") == ["甲", "丙"]
    assert prose("甲 % nmspeller: off\n乙", "latex") == ["甲"]
    assert prose("# 甲\n# nmspeller: off\n# 乙\n", "python") == ["甲"]


def test_one_line_can_be_ignored():
    assert prose("甲\n乙 nmspeller: ignore 丙\n丁\n", "text") == ["甲", "丁"]
    assert prose("甲\r\n乙 <!-- nmspeller:ignore -->\r\n丁", "markdown") == ["甲", "丁"]
    assert prose("甲 nmspeller: ignored", "text") == ["甲 nmspeller: ignored"]


def test_formats_by_name():
    names = [
        "a.TXT",
        "a.md",
        "a.htm",
        "a.srt",
        "a.tex",
        "a.docx",
        "a.rst",
        "a.py",
        "a.unknown",
        "README",
        "a.org",
        "a.eml",
        "论文v1.2",
        "a.odt",
        "a.ODP",
        "a.pptx",
    ]
    assert [format_of(name) for name in names] == [
        "text", "markdown", "html", "srt", "latex", "docx", "rst", "code:python", "text", "text", "org",
        "text", "text", "odt", "odp", "pptx"
    ]  # fmt: skip


def test_an_unknown_language_is_rejected():
    with pytest.raises(InputError, match="klingon"):
        passages("甲", "klingon")


FORMATS = ["text", "markdown", "html", "srt", "latex", "rst", "python", "c"]
MARKS = (
    "我们 门 。 \n \n\n \r\n \r \t ** ` ``` < > <b> </p> <!-- --> <script> & &lt; $ $$ \\ \\begin{verbatim} "
    "\\section{ { } % [ ]( ) [^1]: [中]: !!! ::: | --- # > - :: .. :a:` 1\n00:00:01 --> // /* */ ' "
    'nmspeller:off nmspeller:on """ \\text{ ^[ title: description="  caption={ ``` ---\n 😀 \u2028 \x00 a'
)
documents = st.one_of(st.text(), st.lists(st.sampled_from(MARKS.split(" "))).map("".join))


@settings(max_examples=150, deadline=None)
@given(documents, st.sampled_from(FORMATS))
def test_segments_are_in_order_and_passages_are_made_of_them(text, format):
    found = passages(text, format)
    end = 0
    for span in (span for passage in passages(text, format) for span in passage.spans):
        assert end <= span.start < span.stop <= len(text)
        end = span.stop
    for passage in found:
        assert passage.text == "".join(text[start:stop] for start, stop in passage.spans)


@settings(max_examples=150, deadline=None)
@given(documents, st.sampled_from(FORMATS), st.integers(1, 3), st.integers(0, 2))
def test_edits_come_back_to_the_very_characters(text, format, length, grow):
    for passage in passages(text, format):
        edits = [
            Edit(at, len(source), source, "换" * (len(source) + grow), 0.9, (), Reason.CONTEXT)
            for at in range(0, len(passage.text), length + 1)
            if (source := passage.text[at : at + length])
        ]
        placed = list(passage.in_document(edits))
        for edit in placed:
            assert text[edit.offset : edit.offset + edit.length] == edit.source
            assert any(a <= edit.offset and edit.offset + edit.length <= b for a, b in passage.spans)
        changed = apply_edits(text, placed)
        # All that is not in the passage's spans is still there, in order.
        at = end = 0
        for start, stop in passage.spans:
            at = changed.index(text[end:start], at) + start - end
            end = stop
        assert changed.endswith(text[end:])
        assert "".join(edit.target for edit in placed) == "".join(edit.target for edit in edits)


def test_an_edit_over_markup_is_split_there():
    passage = Passage("借少你", (ProseSpan(2, 3), ProseSpan(5, 7)))
    (first, second) = passage.in_document(
        [Edit(0, 2, "借少", "介绍", 0.9, ("介少", "长了三"), Reason.SIMILAR_SOUND)]
    )
    assert (first.offset, first.source, first.target, first.alternatives) == (2, "借", "介", ("介",))
    assert (second.offset, second.source, second.target, second.alternatives) == (5, "少", "绍", ("少",))
