"""Diagnostics while one types."""

import asyncio

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_opening_a_document_shows_what_is_wrong(editor):
    uri = editor.open("信.txt", "明天在见！\n我爱吃平果，他跑的快。\n")

    found = await editor.diagnostics(uri)

    assert editor.found(uri, found) == ["在", "平", "的"]
    assert [each.code for each in found] == ["same_sound", "same_sound", "de"]
    assert {each.source for each in found} == {"nmspeller"}
    assert {each.severity for each in found} == {types.DiagnosticSeverity.Information}
    assert "再" in found[0].message
    assert "97%" in found[0].message
    assert found[0].data == {"probability": 0.98, "confidence": 0.97}
    assert found[0].tags is None


async def test_what_only_the_context_speaks_for_is_a_hint(editor):
    uri = editor.open("a.txt", "蓝天空")
    (found,) = await editor.diagnostics(uri)
    assert found.severity == types.DiagnosticSeverity.Hint


async def test_only_the_paragraph_that_changed_is_checked_again(editor):
    paragraphs = [f"第{number}段，明天在见。" for number in range(40)]
    uri = editor.open("a.txt", "\n".join(paragraphs))
    assert len(await editor.diagnostics(uri)) == 40
    assert len(editor.asked()) == 40

    place = editor.texts[uri].index("第7段")
    editor.replace(uri, place, place, "平果。")

    found = await editor.diagnostics(uri)
    assert len(found) == 41
    assert editor.asked() == ["平果。第7段，明天在见。"]
    assert set(editor.found(uri, found)) == {"在", "平"}


async def test_a_new_line_above_moves_the_diagnostics_and_checks_nothing(editor):
    uri = editor.open("a.txt", "明天在见。")
    await editor.diagnostics(uri)
    editor.asked()

    editor.replace(uri, 0, 0, "\n\n")

    (found,) = await editor.diagnostics(uri)
    assert found.range.start == types.Position(2, 2)
    assert editor.asked() == []


async def test_the_same_paragraph_twice_is_checked_once(editor):
    uri = editor.open("a.txt", "明天在见。\n明天在见。\n")
    assert len(await editor.diagnostics(uri)) == 2
    assert editor.asked() == ["明天在见。"]


async def test_typing_is_debounced(new_editor):
    editor = new_editor
    await editor.start(options={"debounce": 60_000})
    uri = editor.open("a.txt", "")
    assert not await editor.diagnostics(uri)

    for number, character in enumerate("明天在见"):
        editor.replace(uri, number, number, character)
        await asyncio.sleep(0.1)
    assert editor.asked() == []

    # Somebody who asks for all to be fixed does not wait out the pause.
    (action,) = await asyncio.wait_for(editor.actions(uri, 0, only=["source.fixAll.nmspeller"]), 20)
    assert editor.apply(uri, action) == "明天再见"
    assert editor.asked() == ["明天在见"]
    assert len(await editor.diagnostics(uri)) == 1


async def test_a_stale_result_is_never_published(editor):
    uri = editor.open("a.txt", "慢，明天在见。")
    await editor.work_begins()
    editor.replace(uri, 0, 0, "平果\n")

    published = await editor.client.published[uri].get()
    assert published.version == 2
    assert editor.found(uri, published.diagnostics) == ["平", "在"]
    assert editor.asked() == ["慢，明天在见。", "平果"]  # what was under way is kept, not done again


async def test_a_slow_check_does_not_keep_the_server_from_answering(editor):
    slow = ["慢" + "，".join(f"第{line}行第{n}处很长" for n in range(100)) for line in range(20)]
    editor.open("slow.txt", "\n".join(slow))
    quick = editor.open("quick.txt", "明天在见。")
    assert len(await editor.diagnostics(quick)) == 1
    begun = [text for text in editor.asked() if "慢" in text]
    assert len(begun) < 10  # the slow one takes twenty seconds and is far from done


async def test_closing_clears_and_forgets(editor):
    uri = editor.open("a.txt", "明天在见。")
    await editor.diagnostics(uri)
    editor.close(uri)
    assert (await editor.client.published[uri].get()).diagnostics == ()

    assert await editor.actions(uri, 2) == []
    editor.open("a.txt", "明天在见。")
    assert len(await editor.diagnostics(uri)) == 1


async def test_closing_during_a_check_publishes_nothing_afterwards(editor):
    uri = editor.open("a.txt", "慢，明天在见。")
    await editor.work_begins()
    editor.close(uri)
    assert (await editor.client.published[uri].get()).diagnostics == ()
    await asyncio.sleep(1.2)
    assert editor.client.published[uri].empty()


async def test_a_document_of_20000_characters(editor):
    line = "这一段话很平常，没有什么错字，只是为了把文章写长。" * 9
    text = "\n".join(f"{number}{line}" + ("明天在见。" if number % 10 == 0 else "") for number in range(90))
    assert len(text) > 20_000
    uri = editor.open("长.txt", text)
    found = await editor.diagnostics(uri)
    assert editor.found(uri, found) == ["在"] * 9
    editor.asked()

    editor.replace(uri, len(text), len(text), "平果")
    assert len(await editor.diagnostics(uri)) == 10
    assert len(editor.asked()) == 1


async def test_a_keystroke_in_a_line_of_20000_characters_costs_the_part_around_it(editor):
    text = "".join(f"这是第{number}句话，写得很平常。" for number in range(1_500)) + "明天在见。"
    uri = editor.open("长.txt", text)
    assert editor.found(uri, await editor.diagnostics(uri)) == ["在"]
    assert len(editor.asked()) > 100

    editor.replace(uri, 2, 2, "平果")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["平", "在"]
    (part,) = editor.asked()
    assert part.startswith("这是平果第0句话，写得很平常。")


async def test_a_sentence_without_an_end_leaves_other_documents_their_turn(editor):
    uri = editor.open("长.txt", "这句话没有个完" * 3_000 + "明天在见")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["在"]
    asked = editor.asked()
    assert max(map(len, asked)) <= 126  # a batch of several parts is checked without a break


async def test_a_full_replacement_of_the_text(editor):
    uri = editor.open("a.txt", "明天在见。")
    await editor.diagnostics(uri)
    whole = types.TextDocumentContentChangeWholeDocument("平果")
    editor.send_changes(uri, [whole], "平果")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["平"]


async def test_several_changes_in_one_message_build_on_each_other(editor):
    uri = editor.open("a.txt", "见")
    await editor.diagnostics(uri)
    at = types.Position(0, 0)
    insertions = [
        types.TextDocumentContentChangePartial(types.Range(at, at), text) for text in ("在", "😀", "平果")
    ]
    editor.send_changes(uri, insertions, "平果😀在见")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["平", "在"]


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("plaintext", "*在见* **平**果", ["在"]),
        ("markdown", "`在见` **平**果\n\n```\n在见\n```\n", ["平"]),
        ("latex", "\\begin{document}\n\\label{在见}平果 % 在见\n$跑的快$\n\\end{document}\n", ["平"]),
        ("tex", "\\label{在见}平果", ["平"]),
        ("plaintex", "\\label{在见}平果", ["平"]),
        ("restructuredtext", "``在见`` 平果\n\n::\n\n    在见\n", ["平"]),
        ("python", "# 明天在见\nname = '平果'\n", ["在"]),
        ("javascriptreact", "// 明天在见\nlet name = '平果'\n", ["在"]),
        ("html", "<p title='在见'>平果</p>", ["在", "平"]),
        ("org", "平果", ["平"]),
        ("a language nobody knows", "平果", ["平"]),
        ("", "平果", ["平"]),
    ],
)
async def test_only_the_prose_of_a_language_is_checked(editor, language, text, found):
    uri = editor.open("文件", text, language)
    assert editor.found(uri, await editor.diagnostics(uri)) == found


async def test_an_unknown_language_goes_by_the_file_name(editor):
    uri = editor.open("a.md", "`在见` 平果", "a language nobody knows")
    assert editor.found(uri, await editor.diagnostics(uri)) == ["平"]


async def test_switched_off_in_the_text(editor):
    uri = editor.open(
        "a.md", "平果\n\n<!-- nmspeller: off -->\n\n在见\n\n<!-- nmspeller: on -->\n\n跑的快\n", "markdown"
    )
    assert editor.found(uri, await editor.diagnostics(uri)) == ["平", "的"]
