"""What the editor and the project may set."""

import pytest
from lsprotocol import types

from nmspeller.apps.lsp.settings import EditorSettings

in_an_editor = pytest.mark.asyncio(loop_scope="module")


def set_in(editor, **settings):
    editor.client.set_configuration({"nmspeller": settings})
    changed = types.DidChangeConfigurationParams({"nmspeller": settings})
    editor.client.workspace_did_change_configuration(changed)


async def add(editor, uri, offset, word):
    actions = await editor.actions(uri, offset)
    (action,) = [action for action in actions if action.title == f"Add “{word}” to my words"]
    await editor.run(action)


def test_nothing_set():
    assert EditorSettings.read(None, {}) == (EditorSettings(), [])


def test_later_sources_win_over_earlier_ones_and_null_sets_nothing():
    settings, warnings = EditorSettings.read(
        {"level": "careful", "debounce": 5}, {"level": "thorough", "words": None}
    )
    assert settings == EditorSettings(level="thorough", debounce=5)
    assert warnings == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"enable": "no"},
        {"prefilter": "yes"},
        {"debounce": -1},
        {"debounce": True},
        {"debounce": float("nan")},
        {"level": 3},
        {"level": "perfect"},
        {"words": ["word"]},
        {"model": ""},
        {"words": "~nobody-of-this-name/words.txt"},
        {"words": "words\0.txt"},
        {"lvel": "careful"},
    ],
)
def test_a_wrong_setting_costs_a_sentence_and_only_itself(wrong):
    settings, (warning,) = EditorSettings.read({"level": "careful", "enable": False}, wrong)
    assert warning.startswith(("The setting `nmspeller.", "There is no setting `nmspeller.lvel`"))
    assert (settings.level, settings.enable, settings.debounce) == ("careful", False, 300)


@in_an_editor
async def test_switching_off_clears_and_on_finds_again(new_editor):
    editor = new_editor
    await editor.start()
    uri = editor.open("a.txt", "明天在见")
    assert len(await editor.diagnostics(uri)) == 1
    set_in(editor, enable=False)
    assert len(await editor.diagnostics(uri)) == 0
    set_in(editor, enable=True)
    assert len(await editor.diagnostics(uri)) == 1


@in_an_editor
async def test_the_prefilter_is_used_if_the_editor_sets_it(new_editor):
    editor = new_editor
    await editor.start()
    uri = editor.open("a.txt", "明天在见")
    await editor.diagnostics(uri)
    set_in(editor, prefilter=True)
    await editor.diagnostics(uri)
    assert [prefilter for *_, prefilter in editor.log_lines()] == [False, True]


@in_an_editor
async def test_the_level_changes_at_once(new_editor):
    editor = new_editor
    await editor.start(options={"level": "careful"})
    uri = editor.open("a.txt", "蓝天空，在见")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["在"]
    set_in(editor, level="perfect")
    assert "perfect" in (await editor.said())[0]
    editor.replace(uri, 0, 0, "。")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["在"]
    set_in(editor, level="balanced")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["蓝", "在"]
    assert {level for _, level, *_ in editor.log_lines()} == {"careful", "balanced"}


@in_an_editor
async def test_settings_that_are_only_announced_are_asked_for(new_editor):
    editor = new_editor
    editor.client.set_configuration({"nmspeller": {"level": "careful"}})
    await editor.start()
    uri = editor.open("a.txt", "蓝天空，在见")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["在"]
    assert {level for _, level, *_ in editor.log_lines()} == {"careful"}  # nothing was checked without them
    editor.client.set_configuration({"nmspeller": {"level": "balanced"}})
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    assert editor.found(uri, await editor.diagnostics(uri)) == ["蓝", "在"]


@in_an_editor
async def test_the_editor_is_asked_to_watch_the_projects_files(new_editor):
    editor = new_editor
    await editor.start()
    uri = editor.open("a.txt", "平果")
    await editor.diagnostics(uri)
    watched = [each for each in editor.client.registered if each.method == "workspace/didChangeWatchedFiles"]
    assert len(watched) == 1

    (editor.folder / ".nmspeller-words.txt").write_text("平果\n", "utf-8")
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
    assert len(await editor.diagnostics(uri)) == 0


@in_an_editor
async def test_a_wrong_setting_and_a_missing_model_are_said_once_and_the_server_lives_on(new_editor):
    editor = new_editor
    await editor.start(options={"model": "nowhere", "levle": "careful"})
    uri = editor.open("a.txt", "明天在见")
    assert len(await editor.diagnostics(uri)) == 0
    sentences = await editor.said(2)
    assert "levle" in sentences[0]
    assert "nowhere" in sentences[1]
    for _ in range(3):
        editor.replace(uri, 0, 0, "。")
        assert len(await editor.diagnostics(uri)) == 0
    assert editor.client.shown.empty()

    set_in(editor, model=None)  # the first settings still say `nowhere`
    (editor.folder / "nowhere").mkdir()
    editor.replace(uri, 0, 0, "。")
    assert len(await editor.diagnostics(uri)) == 1


@in_an_editor
async def test_adding_a_word_writes_the_workspaces_file_and_counts_everywhere(new_editor):
    editor = new_editor
    await editor.start()
    file = editor.folder / ".nmspeller-words.txt"
    file.write_bytes("# names\n张三".encode())  # no line end after the last one
    uri = editor.open("a.txt", "我吃平果，在见")
    other = editor.open("b.txt", "平果")
    await editor.diagnostics(uri)
    await editor.diagnostics(other)

    await add(editor, uri, 2, "平果")

    assert editor.found(uri, await editor.diagnostics(uri)) == ["在"]
    assert len(await editor.diagnostics(other)) == 0
    assert file.read_text("utf-8") == "# names\n张三\n平果\n"
    await editor.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command="nmspeller.addWord", arguments=[uri, "平果"])
    )
    assert file.read_text("utf-8") == "# names\n张三\n平果\n"


@in_an_editor
async def test_a_word_costs_the_paragraphs_that_hold_it(new_editor):
    editor = new_editor
    await editor.start()
    uri = editor.open("a.txt", "我吃平果\n明天在见\n平果很甜")
    assert len(await editor.diagnostics(uri)) == 3
    editor.asked()

    await add(editor, uri, 2, "平果")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["在"]
    assert editor.asked() == ["我吃平果", "平果很甜"]

    (editor.folder / ".nmspeller-words.txt").write_text("在见\n", "utf-8")
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
    assert editor.found(uri, await editor.diagnostics(uri)) == ["平", "平"]
    assert sorted(editor.asked()) == ["平果很甜", "我吃平果", "明天在见"]


@in_an_editor
async def test_an_unsaved_text_without_a_folder(new_editor):
    editor = new_editor
    await editor.start(root=False)
    uri = "untitled:Untitled-1"
    editor.texts[uri], editor.versions[uri] = "平果", 1
    item = types.TextDocumentItem(uri=uri, language_id="plaintext", version=1, text="平果")
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    assert len(await editor.diagnostics(uri)) == 1
    await add(editor, uri, 0, "平果")
    (sentence,) = await editor.said()
    assert "Open a folder" in sentence


@in_an_editor
async def test_the_project_decides_what_the_editor_does_not(new_editor):
    editor = new_editor
    await editor.start()
    (editor.folder / ".nmspeller.toml").write_text(
        'level = "careful"\nwords = ["names.txt"]\nreplacements = ["style.tsv"]\nignore = ["drafts/"]\n'
        '[format]\n"*.note" = "markdown"\n',
        "utf-8",
    )
    (editor.folder / "names.txt").write_text("平果\n", "utf-8")
    (editor.folder / "style.tsv").write_text("电邮\t电子邮件\n", "utf-8")

    uri = editor.open("a.note", "蓝天空，平果，`在见`，在见，发电邮", "plaintext")
    found = await editor.diagnostics(uri)
    assert editor.found(uri, found) == ["在", "电邮"]
    ignored = editor.open("drafts/a.txt", "在见")
    assert len(await editor.diagnostics(ignored)) == 0

    set_in(editor, level="balanced")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["蓝", "在", "电邮"]
    await add(editor, uri, 0, "蓝天")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["在", "电邮"]
    assert (editor.folder / "names.txt").read_text("utf-8") == "平果\n蓝天\n"


@in_an_editor
async def test_a_broken_project_file_costs_one_sentence_until_it_is_mended(new_editor):
    editor = new_editor
    await editor.start()
    project = editor.folder / ".nmspeller.toml"
    project.write_text("level = careful", "utf-8")
    uri = editor.open("a.txt", "蓝天空，在见")
    assert len(await editor.diagnostics(uri)) == 2
    (sentence,) = await editor.said()
    assert ".nmspeller.toml" in sentence
    editor.replace(uri, 0, 0, "。")
    assert len(await editor.diagnostics(uri)) == 2
    assert editor.client.shown.empty()

    project.write_text('level = "careful"', "utf-8")
    saved = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(project.as_uri()))
    editor.client.text_document_did_save(saved)
    assert len(await editor.diagnostics(uri)) == 1
