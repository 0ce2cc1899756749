"""Characters of XML content change, and not one other byte of it."""

import pytest

from nmspeller.apps.documents.xml_content import TextReplacement, text_of, with_text


@pytest.mark.parametrize(
    ("content", "replacement", "expected"),
    [
        ("我门&amp;他", (1, 2, "们"), "我们&amp;他"),
        ("我<![CDATA[门<>]]>他", (1, 2, "们&"), "我<![CDATA[们&<>]]>他"),
        ("我<![CDATA[门]]>他", (0, 3, "一二三"), "一<![CDATA[二]]>三"),
        ("我<![CDATA[门]]>他", (0, 3, "一"), "一<![CDATA[]]>"),
        ("我<![CDATA[门]]>他", (2, 2, "们"), "我<![CDATA[门们]]>他"),
        ("我<!-- 门 --><?a 门?>门", (0, 2, "我们"), "我<!-- 门 --><?a 门?>们"),
        ("<!-- & -->门", (0, 0, "我"), "<!-- & -->我门"),
        ("<![CDATA[&amp;]]>门", (5, 6, "们"), "<![CDATA[&amp;]]>们"),
        ("<![CDATA[a]]x>b]]>", (3, 4, ""), "a]]&gt;b"),  # in the section it would be its end
        ("<![CDATA[a]]]]><![CDATA[>b]]>", (0, 1, "c"), "<![CDATA[c]]]]><![CDATA[>b]]>"),
        ("<![CDATA[ab]]>", (1, 1, "\r"), "a&#13;b"),  # in the section it would be a line feed
        ("<![CDATA[a\r\nb]]>", (2, 3, "c"), "<![CDATA[a\r\nc]]>"),
    ],
)
def test_only_the_characters_change(content, replacement, expected):
    begin, end, text = replacement
    changed = with_text(content.encode(), [TextReplacement(*replacement)]).decode()
    assert changed == expected
    before = text_of(content.encode())
    assert text_of(changed.encode()) == before[:begin] + text + before[end:]
