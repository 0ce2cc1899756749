"""Findings of the rules, which an editor may switch on."""

import asyncio

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = "我用 Python写字 ,明天在见，，他来了。"


def set_rules(editor, rules):
    editor.client.set_configuration({"nmspeller": {"rules": rules}})
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))


async def shows(editor, uri, *codes):
    """Whether the editor shows these findings in the end; before the rules are loaded it may show fewer."""

    async def reach():
        while tuple(found.code for found in await editor.diagnostics(uri)) != codes:
            pass

    await asyncio.wait_for(reach(), 60)
    return True


async def test_rules_are_off_unless_the_editor_sets_them(new_editor):
    editor = new_editor
    await editor.start()
    uri = editor.open("a.txt", TEXT)
    assert await shows(editor, uri, "same_sound")
    set_rules(editor, ["doubled_punctuation"])
    assert await shows(editor, uri, "same_sound", "doubled_punctuation")
    set_rules(editor, False)
    assert await shows(editor, uri, "same_sound")
    set_rules(editor, True)
    other = editor.open("b.txt", "这是我的的书，，好。")
    assert await shows(editor, other, "doubled_character", "doubled_punctuation")


async def test_neighbours_of_rules_and_model_are_both_shown_and_fixed_together(new_editor):
    editor = new_editor
    await editor.start(options={"rules": ["spelling", "typography"]})
    text = "我很高心。。他门走了。\n明天在见!\n老師說平果，，跑的快。。"
    uri = editor.open("a.txt", text)
    found = await editor.diagnostics(uri)
    assert editor.found(uri, found) == ["心", "。。", "门", "在", "!", "平", "，，", "的", "。。"]
    assert [each.code for each in found[:3]] == ["similar_sound", "doubled_punctuation", "same_sound"]
    (fix,) = await editor.actions(uri, 0, only=["source.fixAll"])
    fixed = editor.apply(uri, fix)
    assert fixed == "我很高兴。他们走了。\n明天再见！\n老師說蘋果，跑得快。"
    editor.replace(uri, 0, len(text), fixed)
    assert len(await editor.diagnostics(uri)) == 0


async def test_other_rules_need_neither_another_model_nor_another_reading(new_editor):
    editor = new_editor
    await editor.start()
    uri = editor.open("a.txt", "明天在见，他说，，好。")
    assert await shows(editor, uri, "same_sound")
    loads = editor.log.with_name(editor.log.name + ".loads")
    assert len(loads.read_text("utf-8").splitlines()) == 1
    editor.asked()
    set_rules(editor, ["doubled_punctuation"])
    assert await shows(editor, uri, "same_sound", "doubled_punctuation")
    assert editor.asked() == []  # the model had read 他说，好 before
    assert len(loads.read_text("utf-8").splitlines()) == 1


async def test_an_unknown_rule_is_named_with_those_that_there_are(new_editor):
    editor = new_editor
    await editor.start(options={"rules": ["no_such_rule"]})
    (sentence,) = await editor.said()
    assert "no_such_rule" in sentence
    assert "mixed_spacing" in sentence


async def test_what_a_rule_inserts_and_deletes_reads_well(new_editor):
    editor = new_editor
    await editor.start(options={"rules": ["mixed_spacing", "space_between_hanzi", "doubled_punctuation"]})
    uri = editor.open("a.txt", "我用 Python写字，他说，，好。")
    assert await shows(editor, uri, "mixed_spacing", "doubled_punctuation")
    editor.replace(uri, 0, 0, "")
    inserted, deleted = await editor.diagnostics(uri)
    assert inserted.message == "“␣” may be missing here (Space between Chinese and Western text)"
    assert inserted.code == "mixed_spacing"
    actions = await editor.actions(uri, editor.span(uri, inserted.range)[0])
    titles = [action.title for action in actions]
    assert titles == ["Insert “␣”", "Ignore “␣” here", "Fix all 2 findings"]
    assert editor.apply(uri, actions[0]) == "我用 Python 写字，他说，，好。"
    assert editor.apply(uri, actions[2]) == "我用 Python 写字，他说，好。"
    assert deleted.code == "doubled_punctuation"

    await editor.run(actions[1])
    assert await shows(editor, uri, "doubled_punctuation")


async def test_a_rules_finding_is_explained_without_a_confidence(new_editor):
    editor = new_editor
    await editor.start(options={"rules": ["doubled_punctuation"]})
    uri = editor.open("a.txt", "他说，，好。")
    shown = (await editor.hover(uri, 2)).contents.value
    assert "Confidence" not in shown
    assert len(shown.split("\n\n")) == 2


async def test_a_rule_reads_the_whole_document_and_its_doubts_are_hints_without_a_fix(new_editor):
    editor = new_editor
    await editor.start(options={"rules": ["name_variants", "unbalanced_marks"]})
    text = "张琳说好。他说“走吧。\n张琳说走吧。”\n\n张林说不。\n\n明天在见，张林说。"
    uri = editor.open("a.md", text)
    assert await shows(editor, uri, "same_sound", "name_variants", "name_variants")
    editor.replace(uri, 0, 0, "")
    found, *doubts = await editor.diagnostics(uri)
    assert [editor.cut(uri, doubt.range) for doubt in doubts] == ["张林", "张林"]
    assert {doubt.severity for doubt in doubts} == {types.DiagnosticSeverity.Hint}
    actions = await editor.actions(uri, editor.span(uri, doubts[0].range)[0])
    assert not actions
    assert found.code == "same_sound"
