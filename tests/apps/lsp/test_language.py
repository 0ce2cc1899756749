"""Chinese and English: by the editor's language, by the environment, by the setting."""

from contextvars import copy_context

import pytest
from lsprotocol import types

from nmspeller.apps.lsp.server import SpellingServer

in_an_editor = pytest.mark.asyncio(loop_scope="module")


def language(monkeypatch, environment="", locale=None, options=None):
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", environment)
    server = SpellingServer(lambda model, **options: None)
    copy_context().run(server.initialize, options, locale)
    return server.language


def test_the_language_is_the_editors_or_else_the_environments(monkeypatch):
    assert language(monkeypatch) == "en"
    assert language(monkeypatch, "zh_CN.UTF-8") == "zh"
    assert language(monkeypatch, "zh_CN.UTF-8", "en-GB") == "en"
    assert language(monkeypatch, "en_US.UTF-8", "zh-tw") == "zh"
    assert language(monkeypatch, "zh_CN.UTF-8", "de") == "zh"


def test_the_setting_wins(monkeypatch):
    assert language(monkeypatch, "zh_CN.UTF-8", "zh-cn", {"lang": "en"}) == "en"
    assert language(monkeypatch, "", "en", {"lang": "zh"}) == "zh"


@in_an_editor
async def test_a_chinese_editor_reads_chinese(new_editor):
    editor = new_editor
    await editor.start(locale="zh-cn", options={"levle": "careful"})
    assert await editor.said() == [
        "nmspeller: 没有 `nmspeller.levle` 这个设置；可用的设置："
        "enable, level, rules, words, model, prefilter, debounce, lang。"
    ]
    uri = editor.open("a.txt", "明天在见")
    (found,) = await editor.diagnostics(uri)
    assert found.message == "“在”是否应为“再”？（同音，97%）"
    assert [action.title for action in await editor.actions(uri, 2)] == [
        "将“在”改为“再”",
        "将“在”改为“载”",
        "将“在见”加入词表",
        "将“明天在见”加入词表",
        "忽略此处的“在”",
        "修正全部 1 处",
    ]
    assert found.code == "same_sound"  # what programs read stays


@in_an_editor
async def test_the_language_changes_at_once(new_editor):
    editor = new_editor
    await editor.start()
    uri = editor.open("a.txt", "明天在见坏")
    await editor.diagnostics(uri)
    assert "failed on this document" in (await editor.said())[0]
    editor.client.set_configuration({"nmspeller": {"lang": "zh"}})
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    assert "检查此文档时出错" in (await editor.said())[0]
    editor.replace(uri, 4, 5, "")
    (found,) = await editor.diagnostics(uri)
    assert "是否应为" in found.message


@in_an_editor
async def test_a_message_from_the_thread_is_in_the_editors_language(new_editor):
    editor = new_editor
    await editor.start(locale="zh-cn", root=False)
    await editor.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command="nmspeller.addWord", arguments=["untitled:Untitled-1", "平果"])
    )
    assert "请打开文件夹" in (await editor.said())[0]
