"""What the editor shows at a finding: why, what else, how sure."""

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_finding_is_explained(editor):
    uri = editor.open("a.txt", "😀明天在见！")
    shown = await editor.hover(uri, 3)
    assert editor.cut(uri, shown.range) == "在"
    change, why, alternatives, confidence = shown.contents.value.split("\n\n")
    assert change == "在 → 再"
    assert "再见" in why
    assert (alternatives, confidence) == ("Alternatives: 载", "Confidence: 97%")


async def test_nothing_is_shown_beside_a_finding_or_in_a_closed_document(editor):
    uri = editor.open("a.txt", "明天在见！")
    assert await editor.hover(uri, 4) is None
    editor.close(uri)
    assert await editor.hover(uri, 2) is None


async def test_the_character_under_the_pointer_decides(editor):
    uri = editor.open("a.txt", "在见平果")
    assert (await editor.hover(uri, 1)).contents.value.startswith("在")  # right after it
    editor.replace(uri, 1, 2, "在见")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["在", "平"]
    assert (await editor.hover(uri, 3)).contents.value.startswith("平")


async def test_a_finding_without_alternatives_has_no_such_line(editor):
    uri = editor.open("a.txt", "未来人")
    assert "Alternatives" not in (await editor.hover(uri, 0)).contents.value
