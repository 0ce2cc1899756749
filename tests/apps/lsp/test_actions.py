"""What an editor offers at a finding: replacements, my words, ignore, fix all."""

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

FAMILY = "👨‍👩‍👧‍👦"
STRANGE = f"第一行\r\n{FAMILY}😀明天在见，𠀀平果\u2028他跑的快\n{FAMILY}在见"


def titled(actions, part):
    (action,) = [action for action in actions if part in action.title]
    return action


async def test_each_alternative_is_a_quick_fix_and_the_best_is_preferred(editor):
    uri = editor.open("a.txt", "明天在见！")
    actions = await editor.actions(uri, 2)
    fixes = [action for action in actions if action.edit and action.kind == types.CodeActionKind.QuickFix]
    assert [editor.apply(uri, fix) for fix in fixes] == ["明天再见！", "明天载见！"]
    assert [fix.is_preferred for fix in fixes] == [True, False]
    assert [editor.found(uri, fix.diagnostics) for fix in fixes] == [["在"], ["在"]]


@pytest.mark.parametrize("encodings", [None, ["utf-8", "utf-16"], ["utf-32"]])
async def test_positions_are_in_the_editors_encoding(new_editor, encodings):
    editor = new_editor
    result = await editor.start(encodings=encodings)
    assert result.capabilities.position_encoding == (encodings[0] if encodings else "utf-16")

    uri = editor.open("a.txt", STRANGE)
    found = await editor.diagnostics(uri)
    assert editor.found(uri, found) == ["在", "平", "的", "在"]

    for wrong, right in (("𠀀平果", "𠀀苹果"), (f"{FAMILY}在见", f"{FAMILY}再见")):
        place = STRANGE.rindex(wrong) + len(wrong) - 2
        fix = titled(await editor.actions(uri, place), right[-2])
        assert editor.apply(uri, fix) == STRANGE.replace(wrong, right)

    # Typing before, between and after the emoji moves everything by the right number of units.
    for new in ("😀", "中", "\r\n", FAMILY):
        place = editor.texts[uri].index("明天")
        editor.replace(uri, place, place, new)
    found = await editor.diagnostics(uri)
    assert editor.found(uri, found) == ["在", "平", "的", "在"]
    place = editor.texts[uri].index("明天") - len(FAMILY)
    editor.replace(uri, place, place + len(FAMILY), "")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["在", "平", "的", "在"]


async def test_no_finding_no_action(editor):
    uri = editor.open("a.txt", "明天在见！今天很好。")
    await editor.diagnostics(uri)
    assert await editor.actions(uri, 8) == []


async def test_fix_all_repairs_the_whole_document(editor):
    uri = editor.open("a.txt", STRANGE)
    (action,) = await editor.actions(uri, 0, only=[types.CodeActionKind.SourceFixAll])
    assert action.kind == "source.fixAll.nmspeller"
    expected = STRANGE.replace("在见", "再见").replace("平果", "苹果").replace("跑的快", "跑得快")
    assert editor.apply(uri, action) == expected


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (None, {"quickfix", "source.fixAll.nmspeller"}),
        (["quickfix"], {"quickfix"}),
        (["source"], {"source.fixAll.nmspeller"}),
        (["source.fixAll"], {"source.fixAll.nmspeller"}),
        (["source.fixAll.other"], set()),
        (["source.organizeImports"], set()),
        (["refactor", "quickfix"], {"quickfix"}),
        ([""], {"quickfix", "source.fixAll.nmspeller"}),
    ],
)
async def test_the_editor_gets_only_the_kinds_that_it_asked_for(editor, only, kinds):
    uri = editor.open("a.txt", "明天在见！")
    actions = await editor.actions(uri, 2, only=only)
    assert {getattr(action.kind, "value", action.kind) for action in actions} == kinds


async def test_fix_all_of_a_clean_document_is_nothing(editor):
    uri = editor.open("a.txt", "明天再见！")
    assert await editor.actions(uri, 0, only=[types.CodeActionKind.SourceFixAll]) == []


async def test_an_editor_without_versioned_edits_gets_plain_ones(new_editor):
    editor = new_editor
    await editor.start(capabilities="emacs")
    uri = editor.open("a.txt", "明天在见！")
    fix = titled(await editor.actions(uri, 2), "再")
    assert editor.apply(uri, fix) == "明天再见！"


async def test_a_selection_is_offered_as_a_word_once_and_a_sentence_never(editor):
    def offered(actions):
        return [action.title for action in actions if action.title.startswith("Add")]

    uri = editor.open("a.txt", "在见平果，明天在见。")
    await editor.diagnostics(uri)
    assert offered(await editor.actions(uri, 0, 4)) == ["Add “在见平果” to my words"]
    assert offered(await editor.actions(uri, 0, 10)) == []


async def test_ignore_here_hides_this_finding_and_no_other(editor):
    uri = editor.open("a.txt", "我们明天在见，他们后天在见。")
    other = editor.open("b.txt", "我们明天在见，他们后天在见。")
    assert len(await editor.diagnostics(uri)) == 2
    assert len(await editor.diagnostics(other)) == 2

    await editor.run(titled(await editor.actions(uri, 4), "Ignore"))

    (left,) = await editor.diagnostics(uri)
    assert left.range.start.character == 11
    assert editor.client.published[other].empty()
    # It stays ignored when the text changes elsewhere, even if the document is closed in between.
    editor.replace(uri, 0, 0, "😀\n")
    assert len(await editor.diagnostics(uri)) == 1
    editor.close(uri)
    editor.open("a.txt", editor.texts[uri])
    await editor.client.published[uri].get()
    assert len(await editor.diagnostics(uri)) == 1
    (fix,) = await editor.actions(uri, 0, only=["source.fixAll"])
    assert editor.apply(uri, fix) == "😀\n我们明天在见，他们后天再见。"
    # Beside other words it is another finding.
    editor.replace(uri, 5, 6, "吗")
    assert len(await editor.diagnostics(uri)) == 2


async def test_words_around_a_finding_are_offered_for_the_list(editor):
    uri = editor.open("a.txt", "我爱吃平果，")
    actions = await editor.actions(uri, 3)
    added = [action.command.arguments[1] for action in actions if action.title.startswith("Add")]
    assert added == ["平果", "吃平果"]


async def test_a_selection_is_offered_as_the_word(editor):
    uri = editor.open("a.txt", "我爱吃平果，")
    actions = await editor.actions(uri, 2, 5)
    assert [action.command.arguments[1] for action in actions if action.title.startswith("Add")] == ["吃平果"]
