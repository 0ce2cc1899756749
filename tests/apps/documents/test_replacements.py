"""Replacements with signs that mean something else in a format: readers see them as the user wrote them."""

import pytest

from nmspeller.apps.documents.document import from_bytes
from nmspeller.errors import InputError
from nmspeller.runtime.findings import Edit, Reason


def corrected(name, text, right):
    """The file after its first wrong character is replaced."""
    edit = Edit(text.index("门"), 1, "门", right, 1.0, (), Reason.SAME_SOUND)
    return from_bytes(name, text.encode()).with_edits([edit]).decode()


@pytest.mark.parametrize(
    ("name", "text", "right", "written"),
    [
        ("a.html", "<p>我门</p>", 'A&B<"C">', '<p>我A&amp;B&lt;"C"&gt;</p>'),
        ("a.html", '<img alt="我门">', '"A"', '<img alt="我&quot;A&quot;">'),
        ("a.vue", "<template><p>我门</p></template>", "A&B", "<template><p>我A&amp;B</p></template>"),
        ("a.xml", "<a>我门</a>", "A&B>C", "<a>我A&amp;B&gt;C</a>"),
        ("a.xml", "<a><![CDATA[我门]]></a>", "A&B", "<a><![CDATA[我A&B]]></a>"),
        ("a.tex", "我门\n", "50%_A&B~\\", "我50\\%\\_A\\&B\\textasciitilde{}\\textbackslash{}\n"),
        ("a.tex", "\\section[我门]{标题}", "[A]", "\\section[我{[}A{]}]{标题}"),
        ("a.md", "我门\n", "A|*B*<C>", "我A|\\*B\\*&lt;C&gt;\n"),
        ("a.md", "| 我门 |\n| --- |\n", "A|B", "| 我A\\|B |\n| --- |\n"),
        ("a.mdx", "我门\n", "{A}", "我\\{A\\}\n"),
        ("a.rst", "我门\n", "A*", "我A\\*\n"),
        ("a.typ", "我门\n", "#A", "我\\#A\n"),
        ("a.adoc", "我门\n", "*A*_{B}&C\\", "我&#42;A&#42;&#95;&#123;B&#125;&amp;C&#92;\n"),
        ("a.org", "我门\n", "/A/_B=C&[D]", "我\\slash{}A\\slash{}\\under{}B\\equal{}C\\amp{}[D]\n"),
        ("a.vtt", "WEBVTT\n\n我门\n", "A&<B>", "WEBVTT\n\n我A&amp;&lt;B&gt;\n"),
        ("a.srt", "1\n我门\n", "A&B", "1\n我A&B\n"),
        ("a.txt", "我门\n", "A&B<C>", "我A&B<C>\n"),
    ],
)
def test_a_replacement_is_written_as_its_place_requires(name, text, right, written):
    assert corrected(name, text, right) == written


@pytest.mark.parametrize(
    ("name", "text", "right"),
    [
        ("a.c", "/* 我门 */", "A*/B"),
        ("a.xml", "<a><![CDATA[我门]]></a>", "]]>"),
        ("a.md", "---\ntitle: 我门\n---\n正文\n", "A: B"),
        ("a.vue", "<script>\n// 我门\n</script>", "'A'"),
        ("a.org", "我门\n", "*A*"),
        ("a.srt", "1\n我门\n", "<i>A"),
    ],
)
def test_what_a_place_cannot_hold_is_an_error(name, text, right):
    with pytest.raises(InputError, match="syntax"):
        corrected(name, text, right)
