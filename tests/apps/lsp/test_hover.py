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


async def test_an_insertion_and_a_deletion_say_what_they_do(new_editor):
    editor = new_editor
    await editor.start(options={"rules": False})  # a rule finds 是是, too
    uri = editor.open("a.txt", "我看完。他是是我。")
    missing, extra = await editor.diagnostics(uri)
    assert (missing.code, editor.span(uri, missing.range)) == ("missing", (3, 3))
    assert (extra.code, editor.span(uri, extra.range)) == ("extra", (5, 6))
    assert missing.message == "“了” may be missing here (missing character, 80%)"
    shown = [(await editor.hover(uri, at)).contents.value.split("\n\n")[:2] for at in (3, 5)]
    assert shown == [
        ["Insert “了”", "了 may be missing after 完."],
        ["Delete “是”", "是 is written twice."],
    ]
    (fix,) = await editor.actions(uri, 0, only=["source.fixAll"])
    assert editor.apply(uri, fix) == "我看完了。他是我。"


async def test_what_is_known_is_shown_while_a_check_of_the_same_text_waits_its_turn(new_editor):
    editor = new_editor
    await editor.start()
    uri = editor.open("a.txt", "明天在见！")
    assert len(await editor.diagnostics(uri)) == 1
    editor.asked()
    editor.open("endless.txt", "停")
    await editor.work_begins()
    editor.save(uri)
    assert (await editor.hover(uri, 2)).contents.value.startswith("在 → 再")
    assert (await editor.actions(uri, 2))[0].title == "Replace “在” with “再”"
