"""What of LaTeX is prose: text and titles, not commands, settings, names or code."""

import pytest

from nmspeller.apps.documents.prose import passages


def prose(text):
    return [passage.text for passage in passages(text, "latex")]


LATEX = r"""
\documentclass{ctexart} % 注释
\usepackage[甲]{乙}
\begin{document}
\section{第一节}\label{节}
我们\textbf{去}公园，见图~\ref{图}和 $x=数$。涨了 5\% 还
换行\footnote{脚注}后面 % 注
继续。\\ 新行 \verb|码| 完。
\begin{equation}式\end{equation}
\begin{itemize}\item 一项 \item[选] 二项\end{itemize}
\begin{verbatim}
码 \end{itemize}
\end{verbatim}
\[ 式 \] 末，只值 \$5 和 $6 元
\end{document}
"""


def test_latex():
    assert prose(LATEX) == [
        "第一节",
        "我们去公园，见图和 。涨了 5 还换行",
        "脚注",
        "后面 继续。",
        "新行  完。",
        "一项",
        "选",
        "二项",
        "末，只值 5 和 6 元",
    ]


@pytest.mark.parametrize(
    "command",
    [
        r"\subfile{甲}",
        r"\import{甲}{乙}",
        r"\lstinputlisting[a]{甲}",
        r"\inputminted{python}{甲}",
        r"\includepdf[pages=-]{甲}",
        r"\citeauthor{甲}",
        r"\Citeauthor*{甲}",
        r"\citeyear{甲}",
        r"\upcite{甲}",
        r"\footcite[注]{甲}",
        r"\textcites{甲}{乙}",
        r"\nameref{甲}",
        r"\vref{甲}",
        r"\crefs{甲}",
        r"\mintinline{python}{甲}",
        r"\mintinline[a]{python}|甲|",
        r"\lstinline[language=C]|甲|",
        r"\lstinline[language=C]{甲}",
        r"\Verb+甲+",
        r"\includesvg[width=3cm]{甲}",
        r"\VerbatimInput{甲}",
        r"\setCJKfamilyfont{a}{甲}",
        r"\newCJKfontfamily\song[a]{甲}",
        r"\CJKfamily{甲}",
        r"\setlength\parindent{2em}",
        r"\index{甲}",
        r"\index{jia@甲|textbf}",
        r"\glsadd{甲}",
    ],
)
def test_latex_arguments_that_are_not_printed(command):
    assert prose(f"前{command}后") == ["前后"]


@pytest.mark.parametrize(
    "command",
    [
        r"\href{甲}{印}",
        r"\hyperlink{甲}{印}",
        r"\hypertarget{甲}{印}",
        r"\hyperref[甲]{印}",
        r"\citetext{印}",
        r"\textcolor{red}{印}",
        r"\colorbox{yellow}{印}",
        r"\multicolumn{2}{c|}{印}",
        r"\resizebox{\textwidth}{!}{印}",
    ],
)
def test_latex_arguments_that_are_printed(command):
    assert prose(f"前{command}后") == ["前印后"]


@pytest.mark.parametrize(
    ("begin", "expected"),
    [
        (r"\begin{frame}[fragile]{题目}", ["题目", "文"]),
        (r"\begin{block}{\textbf{题}目}", ["题目", "文"]),
        (r"\begin{center}{\large 大字}", ["大字", "文"]),
        (r"\begin{tabular}{|p{3cm}<{\centering}|@{\hspace{1em}}c|}", ["文"]),
        (r"\begin{tabularx} {\textwidth}{XX}", ["文"]),
        (r"\begin{CJK*}{UTF8}{gbsn}", ["文"]),
    ],
)
def test_latex_environments_have_titles_and_settings(begin, expected):
    assert prose(f"{begin}文") == expected


def test_latex_commands_with_chinese_names():
    assert prose(r"\newcommand\学校[1]{印}在\学校{}里，见\校名 处\LaTeX文") == ["在里，见 处文"]


def test_latex_titles_stand_alone():
    assert prose(r"\title{题目\thanks{谢辞}}\author{张三 \and 李四}\frametitle{页题}文") == [
        "题目", "谢辞", "张三", "李四", "页题", "文"
    ]  # fmt: skip


@pytest.mark.parametrize("command", ["endnote", "marginnote[2pt]", "marginpar", "sidenote", "todo[inline]"])
def test_latex_notes_beside_the_text_stand_alone(command):
    assert prose(f"前\\{command}{{旁注}}后") == ["前", "旁注", "后"]


def test_latex_that_is_switched_off():
    assert prose(r"前\iffalse 不印 \fi 后") == ["前", "后"]
    assert prose(r"前\iffalse 不印 \else 印 \fi") == ["前", "印"]


def test_latex_code_inside_a_line_ends_with_it():
    assert prose("前\\verb|码\r后") == ["前后"]


@pytest.mark.parametrize(
    ("definition", "name"),
    [
        (r"\lstnewenvironment{code}{}{}", "code"),
        (r"\lstnewenvironment{源码}[1][]{\lstset{title=题, #1}}{}", "源码"),
        (r"\newminted{python}{linenos}", "pythoncode"),
        (r"\newminted{python}{linenos}", "pythoncode*"),
        (r"\newminted[py]{python}{linenos}", "py"),
        (r"\DefineVerbatimEnvironment{shell}{Verbatim}{label=甲}", "shell"),
        (r"\newtcblisting[auto counter]{sample}[1][]{title=题}", "sample"),
    ],
)
def test_latex_listings_that_the_document_defines(definition, name):
    listing = f"\\begin{{{name}}}\n# 码 {{ $ \\end{{x}}\n\\end{{{name}}}"
    assert prose(f"{definition}\n前\n{listing}\n后") == ["前", "后"]
    assert "码" in "".join(prose(f"前\n{listing}\n后"))


def test_latex_listings_whose_definition_is_a_comment_are_prose():
    assert prose("% \\newminted{c}{}\n\\begin{ccode}文\\end{ccode}") == ["文"]


@pytest.mark.parametrize("name", ["tcblisting", "BVerbatim", "LVerbatim", "luacode", "tikzcd"])
def test_latex_environments_of_code(name):
    assert prose(f"前\\begin{{{name}}}{{}}码\\end{{{name}}}后") == ["前", "后"]
