"""What a reader sees is checked, also inside settings and formulas, and every offset is exact."""

import pytest
from tests.growth import assert_linear

from nmspeller.apps.documents.prose import passages


def prose(text, format):
    found = passages(text, format)
    for passage in found:
        assert "".join(text[start:stop] for start, stop in passage.spans) == passage.text
    return [passage.text for passage in found]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("---\ntitle: 我门的书 # 注\ndate: 今天\n---\n", ["我门的书"]),
        ('---\ntags: [甲]\ndescription: "说\\"明\\"文"\nkey: 乙\n---\n', ["说明文"]),
        ("---\nsubtitle: '副题'\n---\n", ["副题"]),
        (
            "---\nsummary: |\n  第一段，\n  还是。\n\n  第二段。\nauthor: 张三\n---\n",
            ["第一段，还是。", "第二段。"],
        ),
        ("---\nabstract: >-\n  折叠\n  文字\n---\n", ["折叠文字"]),
        ("---\ndescription: 很长的\n  一句话\nx: 丙\n---\n", ["很长的一句话"]),
        ("---\nbook:\n  title: 里面\n---\n", ["里面"]),
        ("---\ntitle:\n---\n", []),
        ("---\nsubtitles: 甲\nmy-title: 乙\n---\n", []),
        ('+++\ntitle = "题目"\nname = "甲"\ndescription = \'说明\'\n+++\n', ["题目", "说明"]),
        ('+++\ndescription = """\n很长的\n说明"""\n+++\n', ["很长的说明"]),
    ],
)
def test_titles_and_descriptions_of_front_matter(front, expected, line_end):
    assert prose(f"{front}\n正文\n".replace("\n", line_end), "markdown") == [*expected, "正文"]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ('前![图](a.png "题目")后', ["前图", "题目", "后"]),
        ("![图](a.png '题目')", ["图", "题目"]),
        ("![图](路 (题目))", ["图", "题目"]),
        ('[![图](a.png "题目")](b.html "甲")', ["图", "题目"]),
        ('[链](a.html "甲")', ["链"]),
        ('![图][甲] [链](a "甲")', ["图 链"]),
        ("前^[脚注]后", ["前", "脚注", "后"]),
        ("前[^1]后\n\n[^1]: 脚注", ["前后", "脚注"]),
        ("# 标题\n\n| 表头 | 二 |\n|---|---|\n| 甲 | 乙 |", ["标题", "表头", "二", "甲", "乙"]),
        (r"当$x \text{且} y$时", ["当且时"]),
        ("前\n\n$$\nx \\text{如果} 数\n$$\n\n后", ["前", "如果", "后"]),
        ("前\n\n\\begin{align}\nx & \\text{如果 $y$}\n\\end{align}\n后", ["前", "如果", "后"]),
        ('```py title="例子" name="甲"\n# 码\n```', ["例子"]),
        ('- ```{.py #lst:a caption="例子"}\n  码\n  ```', ["例子"]),
        ("> ~~~py title='例子'\n> 码\n> ~~~", ["例子"]),
        ('```{r, fig.cap="图题"}\n码\n```', ["图题"]),
        ("```{python}\n#| lst-cap: 例子\n#| label: 甲\n码\n```", ["例子"]),
        ('```py subtitle="甲"\ntitle = "码"\n```', []),
    ],
)
def test_visible_text_of_markdown(markdown, expected):
    assert prose(markdown, "markdown") == expected


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"当 $x>0 \text{且} y$ 时", ["当 且 时"]),
        (r"前\(x \mbox{和} y\)后", ["前和后"]),
        (
            r"前\[ f = \begin{cases} 1 & \text{若 $x$ 大} \\ 0 & \text{否则} \end{cases} \]后",
            ["前", "若  大", "否则", "后"],
        ),
        (r"\begin{align*} x &= 数 \\ \intertext{因为\textbf{这}样} y \end{align*}", ["因为这样"]),
        (r"\begin{equation} x \tag{甲式} \text{见\eqref{乙}处} \end{equation}", ["甲式", "见处"]),
        ("$$ a % \\text{旧}\n \\text{新} $$", ["新"]),
        (r"$$ a \\text{不} $$", []),
        (r"$\text{没有$后", ["没有后"]),
        (
            r"\begin{lstlisting}[language=C, caption={快速排序 a[1]}, label=甲]码\end{lstlisting}",
            ["快速排序 a[1]"],
        ),
        (r"\begin{lstlisting}[caption=排序]码\end{lstlisting}", ["排序"]),
        (r"前\lstinputlisting[caption={例子}, label=甲]{乙.c}后", ["前", "例子", "后"]),
        (r"\begin{tcblisting}{title=例子}码\end{tcblisting}", ["例子"]),
        (r"\begin{listing}\caption{例子}\begin{minted}{c}码\end{minted}\end{listing}", ["例子"]),
        (r"\begin{tcolorbox}[title=提示, colback=red]文", ["提示", "文"]),
        (r"\section[短题]{长的\emph{题}目}文", ["短题", "长的题目", "文"]),
        (r"\subsection*{题}文\footnote{脚注}后\footnotetext{二}尾", ["题", "文", "脚注", "后", "二", "尾"]),
        (
            r"\begin{table}[htbp]\caption[短]{表题}\begin{tabular}{cc}\toprule 表头 & 二 \\ "
            r"\midrule 甲 & \multicolumn{2}{c}{乙}\end{tabular}\end{table}",
            ["短", "表题", "表头", "二", "甲", "乙"],
        ),
        (r"\captionof{figure}{图题}", ["图题"]),
    ],
)
def test_visible_text_of_latex(latex, expected):
    assert prose(latex, "latex") == expected


def test_captions_of_listings_in_restructured_text():
    text = ".. code-block:: python\n   :caption: 例子\n   :name: 甲\n\n   :caption: 码\n\n文\n"
    assert prose(text, "rst") == ["例子", "文"]
    assert prose(".. 注释\n   :caption: 甲\n", "rst") == []


HOSTILE = [
    "$\\text{", "\\text{\\ref{$", "\\[\\text{", "\\begin{lstlisting}[caption={", "^[", '![中](a "',
    "title: '\n", "```title=\n", "title: |\n ", 'title = """\n'
]  # fmt: skip


@pytest.mark.parametrize("format", ["markdown", "latex", "rst"])
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_linear_time(format, piece):
    def work(length):
        passages("---\n" + piece * (length // len(piece)) + "中\n---\n", format)

    assert_linear(work, 20_000)


@pytest.mark.parametrize(
    ("format", "text", "seen"),
    [
        ("html", "<svg><style>甲</style><text x='1'>图<tspan>例</tspan></text></svg>", ["图例"]),
        ("html", "<textarea name='a'>请填写</textarea>后", ["请填写", "后"]),
        (
            "html",
            '<input type="submit" value="提交"><input value="甲"><input type=\'hidden\' value="乙">',
            ["提交"],
        ),
        ("markdown", "前文\n\n<div>\n<p>网页<b>文字</b></p>\n</div>\n\n后文\n", ["前文", "网页文字", "后文"]),
        ("markdown", "<!-- 甲 -->\n\n<pre>\n乙\n</pre>\n\n<script>\n// 丙\n</script>\n", []),
        ("latex", "\\begin{description}\\item[名称] 说明\\end{description}", ["名称", "说明"]),
        ("latex", "\\begin{theorem}[勾股$a$定理]正文\\end{theorem}", ["勾股定理", "正文"]),
        ("latex", "\\begin{figure}[htb]图\\end{figure}\\begin{lstlisting}[甲]乙\\end{lstlisting}", ["图"]),
    ],
)
def test_what_readers_see_in_labels_blocks_and_fields(format, text, seen):
    assert [passage.text for passage in passages(text, format)] == seen
