"""Files that were once passed over in silence: errors are found by name alone, and corrected in place."""

import json

import pytest

FILES = {
    "zh.json": '{"我门": "我门去公园"}',
    "zh.yaml": "我门: 我门去公园\n",
    "zh.po": 'msgid "a"\nmsgstr "我门去公园"\n',
    "strings.xml": '<resources><string name="我门">我门去公园</string></resources>',
    "zh.properties": "a = 我门去公园\n",
    "zh.strings": '"a" = "我门去公园";\n',
    "App.vue": '<template><p class="我门">我门去公园</p></template>\n',
    "a.mdx": "export const 我门 = 1\n\n我门去公园\n",
    "a.adoc": "----\n我门\n----\n\n我门去公园\n",
    "a.org": ": 我门\n我门去公园\n",
    "a.typ": "`我门` 我门去公园\n",
    "a.html": '<p class="我门"><img alt="我门去公园"></p>\n',
    "a.ipynb": json.dumps({"cells": [{"cell_type": "markdown", "source": ["我门去公园\n"]}]}),
}


@pytest.mark.parametrize("name", FILES)
def test_errors_are_found_and_corrected_by_the_name_of_the_file(check, tmp_path, name):
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    found = check(name)
    assert found.code == 1
    assert found.out.count("门 → 们") == 1
    assert check("--fix", name).code == 1
    corrected = (tmp_path / name).read_text(encoding="utf-8")
    escaped = FILES[name].replace("\\u95e8\\u53bb", "\\u4eec\\u53bb")
    assert corrected == escaped.replace("我门去公园", "我们去公园")
    assert check(name).code == 0


def test_a_diff_of_a_file_with_escapes_is_that_of_the_file(check, tmp_path):
    (tmp_path / "zh.json").write_text(json.dumps({"a": "我门"}), encoding="utf-8")
    changed = [
        line for line in check("-o", "diff", "zh.json").out.splitlines() if line.startswith(("-{", "+{"))
    ]
    assert changed == ['-{"a": "\\u6211\\u95e8"}', '+{"a": "\\u6211\\u4eec"}']


def test_a_folder_leaves_out_what_only_holds_texts(check, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = {line.partition(":")[0] for line in check(".").out.splitlines()}
    assert found == {"a.mdx", "a.adoc", "a.org", "a.typ", "a.html", "a.ipynb"}


def test_a_source_text_of_xliff_is_reported_but_not_corrected(check, tmp_path):
    pair = "<trans-unit><source>我门</source></trans-unit>"
    text = f'<xliff version="1.2"><file source-language="zh"><body>{pair}</body></file></xliff>\n'
    (tmp_path / "a.xlf").write_text(text)
    result = check("--fix", "a.xlf")
    assert "门 → 们" in result.out
    assert "1 finding in a source text of a.xlf was left" in result.err
    assert (tmp_path / "a.xlf").read_text() == text
