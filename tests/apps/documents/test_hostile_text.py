"""Texts for which a careless pattern tries again from every character: seconds there, or hours."""

import time

import pytest

from nmspeller.apps.documents.prose import passages
from nmspeller.text.protect import protected_spans

LENGTH = 10_000
LIMIT = 1.5  # seconds; what is linear takes hundredths, what is quadratic took two at least
PIECES = [
    *" \n\t\"'`*_[]()<>!#:|{}$\\-=~1万零壹中&;.,@%/^+?a",
    "<!--", "-->", "[a](", "](", "![", "[[中", "[^", "{{", "{{中", "{%", "{#", "${",
    "\\begin{a}", "\\begin{a}{{中", "\\begin{a}[x", "\\a{", "\\\\[", "\\[\n", "\\iffalse ", "\\text{",
    "<a", "<a ", '<a "', "<b>", "<code>", "<rt>", "<%", "<?php", "&#", "&lt; ", 'title="', "caption={",
    "$中", "$中 ", "`a", "``", ":a:", ":a:`", "|a", "*a", "..", "::", "//", "/*", "*/", "''",
    "a@", "@a", "#a", "www.", "http://", "1万", "> ", "# ", "# 中\n", "中\r\n",
    "\n\n", "\n> ", "\n- ", "\n.. ", "\n:a:", "\nNOTE", "\n-->", "\ntitle: ", "\n| a ",
]  # fmt: skip
BEFORE = {
    "text": [""],
    "markdown": ["", "中文[a](", "---\ntitle: a"],
    "html": ["", "<p "],
    "srt": ["", "WEBVTT\n\nNOTE "],
    "latex": ["", "\\begin{a}", "\\begin{equation}\\text{"],
    "rst": ["", ".. note:: "],
    "python": ["# 中文 ", '"""中文 '],
    "c": ["// 中文 ", "/* 中文 "],
}

STRUCTURED = {
    "mdx": ["", "<A b={", "export "],
    "asciidoc": ["", "|===\n", "image::a["],
    "org": ["", "* ", "#+begin_src\n"],
    "typst": ["", "#a(", "#let a = [", "= "],
    "json": ["", '{"a": "中', "{a: /*"],
    "yaml": ["", "a: ", 'a: "中', "a: [", "- a: |\n  "],
    "po": ["", 'msgstr "'],
    "properties": ["", "a = 中"],
    "strings": ["", '"a" = "中'],
    "xml": ["", "<a>", "<!-- "],
    "vue": ["<template>", "<script>// "],
    "ipynb": ["", '{"cell_type": "markdown", "source": ["中'],
    "code+strings:python": ["a = '", '# 中\nb = """'],
}
SIGNS = [
    *" \n\"'`*_[](){}<>#:|$\\-=&+.1", "{{中", "<!--", "<a \"", "${", "/*", "//", "http://",
    "&#", "\n| a ", "# 中\n", "\\u4f60", "中\r\n",
    "{a, plural, ", "} a {", "$t(", "%(", "a: 中\n", "- ", "<<", "[[a][", "#a[", "#let ", "\n|", "\n+",
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("format", BEFORE)
def test_prose_is_found_in_linear_time(format, piece):
    for before in BEFORE[format]:
        text = f"{before}{piece * (LENGTH // len(piece))} 中\n---\n"  # the line also ends front matter
        assert seconds(lambda text=text: passages(text, format)) < LIMIT, before


@pytest.mark.parametrize("piece", SIGNS)
@pytest.mark.parametrize("format", STRUCTURED)
def test_so_it_is_in_structured_files(format, piece):
    for before in STRUCTURED[format]:
        text = f"{before}{piece * (LENGTH // len(piece))} 中\n"
        assert seconds(lambda text=text: passages(text, format)) < LIMIT, before


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("markdown", "中文<a" + "a" * LENGTH),
        ("markdown", "中文" + "<!--" * LENGTH),
        ("latex", "\\\\[" * LENGTH + "中"),
        ("latex", "\\set" + "font" * LENGTH + "@{a}"),
        ("latex", "$\\text{\\" + "cite" * LENGTH + "}$"),
        ("json", '{"a": "{' + "中" * LENGTH),
        ("json", '{"a": "' + "{中" * LENGTH),
        ("json", '{"a": "<a' + "a" * LENGTH),
        ("json", '"' + '\\"' * LENGTH + "中"),
        ("json", '"{a, plural, ' + "one {中} " * LENGTH),
        ("yaml", "a: " + "[" * LENGTH + "中"),
        ("yaml", "a: {" + "'b': " * LENGTH + "中"),
        ("yaml", "a:\n" + "  中: \n" * LENGTH),
        ("mdx", "{a" * LENGTH + "中"),
        ("mdx", "<A " * LENGTH + "中"),
        ("mdx", "`" + "a`` " * LENGTH + "中"),
        ("typst", "#a(" * LENGTH + "中"),
        ("typst", "#a[" * LENGTH + "中"),
        ("typst", "= " + "中\n= " * LENGTH),
        ("ipynb", '{"a": ' * LENGTH + "中"),
        ("xml", "<xliff:g>" * LENGTH + "中"),
        ("c", "/" * LENGTH + "中"),
        ("c", "/* 中文\n" + " " * LENGTH + "\n*/"),
    ],
)
def test_so_it_is_where_something_else_is_repeated(format, text):
    assert seconds(lambda: passages(text, format)) < LIMIT


LANGUAGES = ["x++", "autoit", "mathematica", "xml", "javascript", "rust", "lua", "sql"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_comments_of_any_language_are_found_in_linear_time(language):
    for piece in ["a\n", "&#x", "{{", "/*", "'", "'\\", '"', "`", "--[[", "\n ", "#", "<!--", "//a\n"]:
        text = piece * (2 * LENGTH // len(piece)) + "// 中"
        assert seconds(lambda text=text: passages(text, language)) < LIMIT, piece


@pytest.mark.parametrize("piece", PIECES)
def test_what_is_protected_is_found_in_linear_time(piece):
    text = piece * (2 * LENGTH // len(piece))
    assert seconds(lambda: protected_spans(text)) < LIMIT


def seconds(action):
    """Of the processor, whatever else the machine does meanwhile."""
    start = time.process_time()
    action()
    return time.process_time() - start
