"""Texts for which a careless pattern tries again from every character: seconds there, or hours."""

from itertools import product

import pytest
from tests.growth import is_linear

from nmspeller.apps.documents.prose import passages
from nmspeller.text.protect import protected_spans

LENGTH = 6_000
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


@pytest.mark.parametrize("format", BEFORE)
def test_prose_is_found_in_linear_time(format):
    # The line at the end also ends front matter.
    assert superlinear(format, BEFORE[format], PIECES, " 中\n---\n") == []


@pytest.mark.parametrize("format", STRUCTURED)
def test_so_it_is_in_structured_files(format):
    assert superlinear(format, STRUCTURED[format], SIGNS, " 中\n") == []


@pytest.mark.parametrize(
    ("format", "before", "piece", "after"),
    [
        ("markdown", "中文<a", "a", ""),
        ("markdown", "中文", "<!--", ""),
        ("latex", "", "\\\\[", "中"),
        ("latex", "\\set", "font", "@{a}"),
        ("latex", "$\\text{\\", "cite", "}$"),
        ("json", '{"a": "{', "中", ""),
        ("json", '{"a": "', "{中", ""),
        ("json", '{"a": "<a', "a", ""),
        ("json", '"', '\\"', "中"),
        ("json", '"{a, plural, ', "one {中} ", ""),
        ("yaml", "a: ", "[", "中"),
        ("yaml", "a: {", "'b': ", "中"),
        ("yaml", "a:\n", "  中: \n", ""),
        ("mdx", "", "{a", "中"),
        ("mdx", "", "<A ", "中"),
        ("mdx", "`", "a`` ", "中"),
        ("typst", "", "#a(", "中"),
        ("typst", "", "#a[", "中"),
        ("typst", "= ", "中\n= ", ""),
        ("ipynb", "", '{"a": ', "中"),
        ("xml", "", "<xliff:g>", "中"),
        ("c", "", "/", "中"),
        ("c", "/* 中文\n", " ", "\n*/"),
    ],
)
def test_so_it_is_where_something_else_is_repeated(format, before, piece, after):
    assert superlinear(format, [before], [piece], after) == []


LANGUAGES = ["x++", "autoit", "mathematica", "xml", "javascript", "rust", "lua", "sql"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_comments_of_any_language_are_found_in_linear_time(language):
    pieces = ["a\n", "&#x", "{{", "/*", "'", "'\\", '"', "`", "--[[", "\n ", "#", "<!--", "//a\n"]
    assert superlinear(language, [""], pieces, "// 中") == []


def test_what_is_protected_is_found_in_linear_time():
    assert [piece for piece in PIECES if not is_linear(protected_spans_of(piece), LENGTH)] == []


def superlinear(format, befores, pieces, after):
    """What stands before, and what is repeated, where four times the text is not four times the work."""
    return [
        (before, piece)
        for before, piece in product(befores, pieces)
        if not is_linear(passages_of(format, before, piece, after), LENGTH)
    ]


def passages_of(format, before, piece, after):
    return lambda length: passages(before + piece * (length // len(piece)) + after, format)


def protected_spans_of(piece):
    return lambda length: protected_spans(piece * (length // len(piece)))
