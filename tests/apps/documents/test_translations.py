"""Files of translations: which of their texts are prose, and that edits leave all syntax as it was."""

import io
import json

import pytest
import yaml
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from hypothesis import given, settings
from hypothesis import strategies as st

from nmspeller.apps.documents.document import from_bytes
from nmspeller.apps.documents.prose import format_of, is_prose_file, passages
from nmspeller.errors import InputError
from nmspeller.runtime.findings import Edit, Reason


def prose(text, format):
    return [passage.text for passage in passages(text, format)]


def corrected(name, raw, wrong="门", right="们", **options):
    """The file with every wrong character of its prose replaced."""
    document = from_bytes(name, raw, **options)
    edits = [
        edit
        for passage in document.passages
        for edit in passage.in_document(
            Edit(at, 1, wrong, right, 1.0, (), Reason.SAME_SOUND)
            for at, character in enumerate(passage.text)
            if character == wrong
        )
    ]
    return document.with_edits(edits)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "zh.json",
            '{"我门": "我门\\n\\"他门\\" {门牌} \\u00e9 C:\\\\门",\n "a": ["它门", {"b": "$t(门.开) 门"}]}'
            " // 门",
            '{"我门": "我们\\n\\"他们\\" {门牌} \\u00e9 C:\\\\们",\n "a": ["它们", {"b": "$t(门.开) 们"}]}'
            " // 们",
        ),
        (
            "app_zh.arb",
            '{"@@locale": "zh", "hi": "你门好{name}"}',
            '{"@@locale": "zh", "hi": "你们好{name}"}',
        ),
        (
            "zh.yml",
            "# 门\n我门: 我门 # 门\nb: &门 \"他\\t门\"\nc: '它''门'\n"
            "d: [门, {门: 门}]\ne: |\n  门一\n  门: 二\nf: *门\n",
            "# 们\n我门: 我们 # 们\nb: &门 \"他\\t们\"\nc: '它''们'\n"
            "d: [们, {门: 们}]\ne: |\n  们一\n  们: 二\nf: *门\n",
        ),
        (
            "zh.po",
            '# 门\n#: 门.c:1\nmsgid ""\nmsgstr "Translator: 门\\n"\n'
            '\nmsgctxt "门"\nmsgid "门"\nmsgstr "我\\"门"\n"他门%s"\n',
            '# 们\n#: 门.c:1\nmsgid ""\nmsgstr "Translator: 门\\n"\n'
            '\nmsgctxt "门"\nmsgid "门"\nmsgstr "我\\"们"\n"他们%s"\n',
        ),
        (
            "zh.properties",
            "# 门\n门.a = 我门\\\n    他门 {0}\nb\\ 门: 它门\n",
            "# 们\n门.a = 我们\\\n    他们 {0}\nb\\ 门: 它们\n",
        ),
        ("Localizable.strings", '/* 门 */\n"门" = "我\\"门 %@";\n', '/* 们 */\n"门" = "我\\"们 %@";\n'),
        (
            "strings.xml",
            '<resources><!-- 门 --><string name="门">我<b>门</b>'
            '\\\'&amp;门<xliff:g id="门">门</xliff:g></string></resources>',
            '<resources><!-- 们 --><string name="门">我<b>们</b>'
            '\\\'&amp;们<xliff:g id="门">门</xliff:g></string></resources>',
        ),
        (
            "zh.resx",
            '<root><data name="门" xml:space="preserve"><value>我门</value></data></root>',
            '<root><data name="门" xml:space="preserve"><value>我们</value></data></root>',
        ),
    ],
)
def test_only_the_texts_of_translations_are_corrected(name, before, after):
    assert corrected(name, before.encode()).decode() == after


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.json", r'{"a": "\u6211\u95e8 \\u95e8 \ud840\udc0b门"}',
         r'{"a": "\u6211\u4eec \\u95e8 \ud840\udc0b们"}'),
        ("a.yaml", r'a: "\u6211\u95E8"', r'a: "\u6211\u4EEC"'),
        ("a.properties", r"a=\u6211\u95e8", r"a=\u6211\u4eec"),
        ("a.html", "<p>&#25105;&#38376;&#x95e8;</p>", "<p>&#25105;&#20204;&#x4eec;</p>"),
        ("a.ipynb", r'{"cells": [{"cell_type": "markdown", "source": "\u95e8"}]}',
         r'{"cells": [{"cell_type": "markdown", "source": "\u4eec"}]}'),
    ],
)  # fmt: skip
def test_escaped_chinese_is_read_and_written_back_as_it_was(name, before, after):
    assert corrected(name, before.encode()).decode() == after


@given(
    st.lists(st.text(st.sampled_from('我门，。"\\\n\t{}<>&%sa é😀𠀋')), min_size=1),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_json_stays_the_same_but_for_the_edits(texts, is_ascii, is_indented):
    value = {f"门{number}": text for number, text in enumerate(texts)}
    raw = json.dumps(value, ensure_ascii=is_ascii, indent=2 if is_indented else None)
    document = from_bytes("a.json", raw.encode())
    assert document.with_edits(()) == raw.encode()
    changed = json.loads(corrected("a.json", raw.encode()))
    assert list(changed) == list(value)
    for key, text in value.items():
        if not set("{}<>%&") & set(text):
            assert changed[key] == text.replace("门", "们")


@given(st.text(st.sampled_from("我门,:#-? \n\t\"'[]{}|>&*!\\a")))
@settings(max_examples=300, deadline=None)
def test_yaml_of_any_kind_is_read(text):
    assert "".join(
        text[slice(*one)] for passage in passages(text, "yaml") for one in passage.spans
    ) == "".join(prose(text, "yaml"))


@pytest.mark.parametrize(
    ("name", "text", "right"),
    [("a.json", '{"a": "门"}', '"们"'), ("a.yaml", "a: 门", ": 们"), ("a.xml", "<!--门-->", "--们")],
)
def test_what_would_break_the_syntax_is_an_error(name, text, right):
    with pytest.raises(InputError, match="syntax"):
        corrected(name, text.encode(), right=right)
    assert "们。" in corrected(name, text.encode(), right="们。").decode()


def test_messages_with_arms_are_several_texts():
    message = '"{count, plural, offset:1 =0 {没有消息} one {{name}有 # 条} other {# 条{姓名}消息}}，好"'
    assert prose(message, "json") == ["没有消息", "{name}有 # 条", "# 条消息", "，好"]


def test_yaml_values_of_all_styles():
    text = "键: 值\n多行: 这是\n  继续的\n空:\n  - 一: 二\n    三: >-\n      折叠\n      文本\n"
    text += "  - 四\n值: http://a.b/路径 # 注\n"
    assert prose(text, "yaml") == ["值", "这是继续的", "二", "折叠文本", "四", "http://a.b/路径", "注"]


def test_translations_are_read_if_they_are_named():
    assert format_of("i18n/zh.json") == "json"
    assert format_of("res/values-zh/strings.xml") == "xml"
    assert not is_prose_file("package.json")
    assert not is_prose_file("config.yaml")
    assert is_prose_file("a.ipynb")
    assert is_prose_file("a.docm")


KEYS = st.sampled_from(["a", "门", "b 门", "c: 门", "门'#", "1"])
VALUES = st.recursive(
    st.text(st.sampled_from("我门，: #-'\"\\\n[]|>&*!?%@`a 1"), max_size=20),
    lambda one: st.lists(one, max_size=4) | st.dictionaries(KEYS, one, max_size=4),
    max_leaves=12,
)
STYLES = st.fixed_dictionaries(
    {
        "default_style": st.sampled_from([None, "'", '"', "|", ">"]),
        "default_flow_style": st.booleans(),
        "width": st.sampled_from([20, 80]),
        "allow_unicode": st.booleans(),
    }
)


def with_all_corrected(value):
    if isinstance(value, str):
        return value.replace("门", "们")
    if isinstance(value, dict):
        return {key: with_all_corrected(one) for key, one in value.items()}
    return [with_all_corrected(one) for one in value]


@pytest.mark.slow
@given(VALUES, STYLES)
@settings(max_examples=300, deadline=None)
def test_all_values_of_yaml_are_corrected_and_no_keys(value, style):
    text = yaml.safe_dump({"key": value}, sort_keys=False, **style)
    changed = yaml.safe_load(corrected("a.yaml", text.encode()))
    assert changed == {"key": with_all_corrected(value)}


@pytest.mark.slow
@given(
    st.dictionaries(st.text('ab门 "\\\n', min_size=1), st.text('我门，"\\\n\t%sa ', max_size=120), max_size=5)
)
@settings(max_examples=200, deadline=None)
def test_all_translations_of_a_catalogue_are_corrected(translations):
    catalogue = Catalog(locale="zh")
    for original, translation in translations.items():
        catalogue.add(original, translation, auto_comments=["门"], locations=[("门.c", 1)], context="门")
    file = io.BytesIO()
    write_po(file, catalogue)
    changed = read_po(io.BytesIO(corrected("zh.po", file.getvalue())))
    assert {one.id: one.string for one in changed if one.id} == {
        original: translation.replace("门", "们") for original, translation in translations.items()
    }


def xliff(units, languages='source-language="en" target-language="zh-CN"'):
    return f'<xliff version="1.2"><file {languages}><body>{units}</body></file></xliff>'


PAIR = "<trans-unit><source>源文门</source><target>译文门</target></trans-unit>"


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        (xliff(PAIR), ["译文门"]),
        (xliff(PAIR, 'source-language="zh-Hans" target-language="zh-Hant"'), ["译文门"]),
        (xliff(PAIR, 'source-language="zh" target-language="ja"'), []),
        (xliff(PAIR.replace("<target>译文门</target>", ""), 'source-language="zh"'), ["源文门"]),
        (xliff(PAIR.replace("译文门", " "), 'source-language="zh" target-language="en"'), ["源文门"]),
        (xliff(PAIR.replace("<trans-unit", '<trans-unit translate="no"')), []),
        (xliff(f"<group translate='no'>{PAIR}</group>{PAIR}"), ["译文门"]),
        (xliff(PAIR.replace("</target>", "</target><alt-trans><target>旧</target></alt-trans>")), ["译文门"]),
        (
            '<xliff version="2.0" srcLang="en" trgLang="zh"><file><unit><segment><source>源</source>'
            "<target>译<pc>文</pc></target></segment></unit></file></xliff>",
            ["译文"],
        ),
        ("<a><source>门</source></a>", ["门"]),
    ],
)
def test_xliff_has_translations_and_their_sources(text, texts):
    assert ["".join(passage.split()) for passage in prose(text, "xml")] == texts


@pytest.mark.parametrize(
    ("language", "texts"), [("ja", []), ("ko_KR", []), ("zh_CN", ["他门"]), ("en", ["他门"])]
)
def test_a_catalogue_in_another_language_written_with_hanzi_is_not_read(language, texts):
    header = f'msgid ""\nmsgstr ""\n"Language: {language}\\n"\n'
    assert prose(f'{header}\nmsgid "they"\nmsgstr "他门"\n', "po") == texts
