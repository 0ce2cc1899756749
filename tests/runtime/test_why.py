import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmspeller.messages import LANGUAGES, _, speaking
from nmspeller.runtime.findings import Edit, Reason
from nmspeller.runtime.rules import RULES
from nmspeller.runtime.why import why


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    with speaking("en"):
        yield


def edit(
    text: str, source: str, target: str, reason: Reason = Reason.SAME_SOUND, rule: str | None = None
) -> Edit:
    return Edit(text.index(source), len(source), source, target, 0.9, (), reason, 0.9, rule)


def explained(text: str, source: str, target: str, *details: Reason | str) -> str:
    return why(text, edit(text, source, target, *details))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "source", "target", "sentence"),
    [
        ("我门去公园。", "门", "们", "门 mén and 们 men sound the same and look similar; 我们 is a word."),
        ("他在次来到这里。", "在", "再", "在 zài and 再 zài sound the same; 再次 is a word."),
        ("今天天气青朗。", "青", "晴", "青 qīng and 晴 qíng differ only in tone; 晴朗 is a word."),
        ("你因该早点来。", "因", "应", "因 yīn and 应 yīng sound similar; 应该 is a word."),
        ("周未去爬山。", "未", "末", "未 wèi and 末 mò look similar; 周末 is a word."),
        # 泛 is fá in old texts only.
        ("他兴趣广乏。", "乏", "泛", "乏 fá and 泛 fàn look similar; 广泛 is a word."),
        ("今天天汽好。", "汽", "气", "汽 qì and 气 qì sound the same and look similar; 天气 is a word."),
        # 绿 is lù in 绿林.
        ("他路了。", "路", "绿", "路 lù and 绿 lù sound the same; 绿 fits the sentence better."),
    ],
)
def test_one_character(text: str, source: str, target: str, sentence: str) -> None:
    assert explained(text, source, target) == sentence


def test_a_word_in_place_of_another_word() -> None:
    expected = "需 xū and 须 xū sound the same; 必须 fits the sentence better than 必需."
    assert explained("这是必需做到的。", "需", "须") == expected


def test_several_characters() -> None:
    assert explained("请你借少一下自己。", "借少", "介绍") == (
        "借 jiè and 介 jiè sound the same, 少 shào and 绍 shào sound the same; 介绍 is a word."
    )


def test_context_alone() -> None:
    assert explained("人在长高。", "人", "树", Reason.CONTEXT) == "树 fits the sentence better."


def test_traditional_text_is_shown_as_it_is_written() -> None:
    assert explained("他門去了學校。", "門", "們") == (
        "門 mén and 們 men sound the same and look similar; 他們 is a word."
    )


def test_a_character_without_pinyin() -> None:
    assert explained("他嗯了。", "嗯", "恩", Reason.SIMILAR_SHAPE) == (
        "嗯 and 恩 look similar; 恩 fits the sentence better."
    )


@pytest.mark.parametrize(("source", "target"), [("按步就班", "按部就班"), ("步", "部")])
def test_the_idiom_by_the_rule_and_by_the_model(source: str, target: str) -> None:
    of_rule = (Reason.RULE, "idiom") if len(source) == 4 else ()
    assert explained("我们按步就班地做。", source, target, *of_rule) == (
        "步 bù and 部 bù sound the same; the idiom is 按部就班."
    )


@pytest.mark.parametrize(
    ("text", "offset", "source", "target", "sentence"),
    [
        ("大家不约同地来了。", 4, "", "而", "而 is missing; the idiom is 不约而同."),
        ("大家不約同地來了。", 4, "", "而", "而 is missing; the idiom is 不約而同."),
        (
            "她小翼心翼。",
            2,
            "翼心",
            "心翼",
            "The characters of 翼心 are in the wrong order; the idiom is 小心翼翼.",
        ),
    ],
)
def test_the_idiom_that_lacks_a_character_or_has_two_swapped(
    text: str, offset: int, source: str, target: str, sentence: str
) -> None:
    reason = Reason.SWAPPED if source else Reason.MISSING
    assert why(text, Edit(offset, len(source), source, target, 1.0, (), reason)) == sentence


@pytest.mark.parametrize("details", [(Reason.DE,), (Reason.RULE, "de_pattern")])
def test_particles(details: tuple[Reason | str, ...]) -> None:
    assert explained("他慢慢的走了。", "的", "地", *details) == (
        "地 follows an adverbial and precedes the verb."
    )


def test_a_replacement_of_the_user() -> None:
    assert explained("改了bug。", "bug", "缺陷", Reason.USER_LIST) == (
        "Your list of replacements has 缺陷 for bug."
    )


@pytest.mark.parametrize(
    ("text", "offset", "source", "target", "rule"),
    [("我的的书。", 2, "的", "", "doubled_character"), ("用Python写。", 1, "", " ", "mixed_spacing")],
)
def test_rules_explain_themselves(text: str, offset: int, source: str, target: str, rule: str) -> None:
    fix = Edit(offset, len(source), source, target, 1.0, (), Reason.RULE, rule=rule)
    assert why(text, fix) == RULES[rule].explanation
    with speaking("zh"):
        assert why(text, fix) == _(RULES[rule].explanation) != RULES[rule].explanation


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [("", "很", "很 is missing here."), ("很", "", "很 does not belong here.")],
)
def test_what_no_known_rule_inserts_or_deletes(source: str, target: str, sentence: str) -> None:
    assert why("我很好。", Edit(1, len(source), source, target, 1.0, (), Reason.RULE, rule="new")) == sentence


def test_in_chinese() -> None:
    with speaking("zh"):
        assert explained("我门去公园。", "门", "们") == "“门”（mén）与“们”（men）同音且形近；“我们”是一个词。"
        assert explained("请你借少一下。", "借少", "介绍") == (
            "“借”（jiè）与“介”（jiè）同音，“少”（shào）与“绍”（shào）同音；“介绍”是一个词。"
        )
        assert explained("人在长高。", "人", "树") == "用“树”更符合句意。"
        assert explained("跑的很快。", "的", "得", Reason.DE) == "“得”用在动词或形容词之后、补语之前。"
        assert explained("改了bug。", "bug", "虫", Reason.USER_LIST) == "你的替换表要求将“bug”改为“虫”。"


ANY = st.text(
    st.one_of(st.sampled_from("我们门在再次介绍借少的地得們門\n。😀\ud800"), st.characters()), max_size=12
)


@given(ANY, ANY, ANY, ANY, st.sampled_from(Reason), st.sampled_from([None, "new", *RULES]))
def test_any_edit_has_an_explanation(
    left: str, source: str, target: str, right: str, reason: Reason, rule: str | None
) -> None:
    change = Edit(len(left), len(source), source, target, 0.5, (), reason, 0.5, rule)
    for language in LANGUAGES:
        with speaking(language):
            assert why(left + source + right, change)


def test_tables_are_loaded_with_the_first_explanation() -> None:
    program = """
from nmspeller.knowledge import pinyin, shape
from nmspeller.runtime import why
from nmspeller.runtime.rules.vocabulary import words
assert not any(table.cache_info().currsize for table in (pinyin._table, shape._table, words))
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("text", "offset", "source", "target", "reason", "sentence"),
    [
        ("我觉很好。", 2, "", "得", Reason.MISSING, "得 may be missing after 觉."),
        ("，觉得很好。", 0, "", "我", Reason.MISSING, "我 may be missing here."),
        ("我在在北京。", 1, "在", "", Reason.EXTRA, "在 is written twice."),
        ("我好在北京。", 1, "好", "", Reason.EXTRA, "好 may not belong here."),
        ("这期学。", 1, "期学", "学期", Reason.SWAPPED, "The characters of 期学 may be in the wrong order"),
    ],
)
def test_missing_extra_and_swapped_characters(text, offset, source, target, reason, sentence):
    edit = Edit(offset, len(source), source, target, 0.9, (), reason)
    assert why(text, edit).startswith(sentence)
