"""How a check goes, for the editor's status line."""

import asyncio

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Four batches of a second each; what is written twice would be read once.
LONG = "\n".join("慢" + "，".join(f"第{line}行第{n}处很长" for n in range(100)) for line in range(4))


async def test_a_long_check_shows_its_progress_and_ends_it(new_editor):
    editor = new_editor
    await editor.start(locale="zh-cn")
    uri = editor.open("我的 论文.txt", LONG)
    while not editor.client.progress:
        await asyncio.sleep(0.01)
    begun = editor.client.progress[0]
    assert (begun["kind"], begun["title"]) == ("begin", "正在检查 我的 论文.txt")
    assert 0 < begun["percentage"] < 100
    editor.replace(uri, 0, len(LONG), "短")  # cancels the check
    await editor.diagnostics(uri)
    assert editor.client.progress[-1]["kind"] == "end"


async def test_a_short_check_shows_none(new_editor):
    editor = new_editor
    await editor.start()
    await editor.diagnostics(editor.open("a.txt", "明天在见"))
    assert editor.client.progress == []


async def test_the_editor_is_told_whether_a_check_runs_is_done_or_failed(new_editor):
    editor = new_editor
    await editor.start()
    uri = editor.open("a.txt", "明天在见")
    await editor.diagnostics(uri)
    editor.replace(uri, 0, 0, "坏")
    await editor.diagnostics(uri)
    (sentence,) = await editor.said()
    while len(editor.client.statuses) < 4:
        await asyncio.sleep(0.01)
    assert editor.client.statuses == [
        ("checking", None),
        ("checked", None),
        ("checking", None),
        ("failed", sentence.removeprefix("nmspeller: ")),
    ]
