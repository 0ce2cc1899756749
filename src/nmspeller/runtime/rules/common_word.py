"""Everyday words with a wrong character that make no word: 按纽 → 按钮, 气喘嘘嘘 → 气喘吁吁."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache

from nmspeller.messages import N_
from nmspeller.runtime.rules import word_lists
from nmspeller.runtime.rules.categories import TYPOS
from nmspeller.runtime.rules.characters import is_in_title, is_quoted
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.faces import simplified
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.protect import Span
from nmspeller.text.script import Simplified, fold
from nmspeller.text.words import WordMatcher

_SHORT = 2
# Mistakes in Simplified text only: Traditional text has them as words of their own.
_SIMPLIFIED_ONLY = frozenset(
    ("渡假", "渡假村", "公佈", "发佈", "扫瞄", "小俩口", "老俩口", "布署", "贯澈", "通霄营业")
)
# Mistakes that dictionaries list as words, and a halter, which is never meant.
_NO_WORDS = frozenset(("自已", "关健", "床第", "笼头"))
# They follow any noun: 绿荫场|上 is no 场上.
_PLACES = frozenset("上下中里内外前后间")
# What stands before or after a form where it is right: 不能自已的深情, 工程师|付了, 四驱|干什么, 张仲景像.
_RIGHT_AFTER = {
    "自已的": "能以法禁难",
    "景像": "仲",
    "偶而": "不",
    "身驱": "孑",
    "师付": "程计影筑析理药",
    "周未": "0123456789两二三四五六七八九十几数上下本",
    "忠心感谢": "的",
    "缺馅": "子饼包饺少",
    "槽糕": "吃蒸买做笼块卖盒斤",
    "任然": "手星唱和与、",
    "着名": "躺坐站跪抱背扶带领围住押",
}
# 侯 is also a name and a title: 等|侯营长.
_AFTER_HOU = "门爷府王营连团总经主先老教局部院校书宝耀德孝"
_RIGHT_BEFORE = {
    "那时侯": _AFTER_HOU,
    "时侯": _AFTER_HOU,
    "等侯": _AFTER_HOU,
    "遂道": "：:，“歉谢",
    "就续": "上签费保订写租",
    "驱干": "什嘛吗",
    "精萃": "水液素乳霜",
    "名星": "加",
    "历害": "关",
    "任然": "唱演的和与、",
    "破环": "反酶",
    "槽糕": "店铺和与、",
    "缺馅": "儿",
    "我自已": "退辞毕婚",
    "他自已": "退辞毕婚",
    "一幅眼镜": "蛇",
    "手留弹": "片",
    "在说一遍": "遍",
    "狠不得": "下心",
    "应筹": "足措",
    "倔起": "脾性",
    "竟技": "压",
    "灯迷": "了住",
    "酒巴": "适",
    "跨台": "合联协演",
    "烤贝": "柱",
    "搜素": "颜",
    "资科": "长",
    "辣焦": "香",
    "糖裹": "着上在满",
    "老白姓": "什啥",
}
# 跟本 is 根本 before these alone, and may be 跟|本单位 elsewhere; so may 到计时 be 到|计时, and 洒吧 洒|吧台.
_ONLY_BEFORE = {"跟本": "不没无就是上", "到计时": "日", "洒吧": "里喝街内老门"}
_SURNAMES = frozenset(
    "张王李刘陈赵吴徐孙胡朱郭罗宋唐韩冯曹彭蔡秦杨黄周林高何马梁郑谢许邓萧肖程沈曾苏叶吕魏丁卢姚钟姜崔谭陆汪"
    "范廖贾夏韦石邹熊孟阎闫薛侯雷龙段郝孔邵史毛顾赖武康贺严尹钱施洪龚汤陶"
)
# After these a surname stands without a name (老张), or is none (这周).
_NOT_BEFORE_SURNAME = frozenset("老小这那每上下本一两几")


class CommonWord(Rule):
    """Replaces what is no word by the word that it is written for.

    Every form of the list was looked up in running text. Where one of its ends makes a word with the
    character beside it (按|纽约), where it shares characters with a longer word, where it alone is quoted, or
    in a title, nothing is said.
    """

    id = "common_word"
    name = N_("Word with a wrong character")
    explanation = N_("There is no such word: one character sounds or looks like the right one.")
    category = TYPOS
    group = Group.SPELLING
    is_precise = True
    example = Example("请先按一下右边的按纽。", "请先按一下右边的按钮。")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        face = simplified(text)
        closed = Closed(protected)
        end = 0
        for start, stop in _longest_first(_matcher().matches(face.text)):
            if start < end or closed.overlaps(start, stop) or _may_be_right(face.text, start, stop):
                continue
            target = _in_own_script(face, start, stop)
            if target is not None:
                yield replace(self, text, start, stop, target)
                end = stop


@cache
def _right_words() -> dict[str, str]:
    return word_lists.read("common_words.txt")


@cache
def _matcher() -> WordMatcher:
    return WordMatcher(_right_words())


def _longest_first(found: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    """In order of their starts; of those that start together the longest first."""
    return sorted(found, key=lambda bounds: (bounds[0], -bounds[1]))


def _may_be_right(text: str, start: int, stop: int) -> bool:
    known = words()
    form, right = text[start:stop], _right_words()[text[start:stop]]
    before, after = text[max(0, start - 1) : start], text[stop : stop + 1]
    # An end with the right character is in doubt only where the rest of the form is words, too: 过度|期待.
    is_short, is_idiom = len(form) == _SHORT, right in known.idioms
    for across, is_wrong, rest in (
        (before + form[0], form[0] != right[0], form[1:]),
        (form[-1] + after, form[-1] != right[-1], "" if after in _PLACES else form[:-1]),
    ):
        is_open = is_short or is_wrong or (not is_idiom and _is_words(rest))
        if is_open and across in known.short_words:
            return True
    if (before and before in _RIGHT_AFTER.get(form, "")) or (after and after in _RIGHT_BEFORE.get(form, "")):
        return True
    if form in _ONLY_BEFORE and (not after or after not in _ONLY_BEFORE[form]):
        return True
    if is_short and _ends_with_surname(text[max(0, start - 2) : start]):
        return True
    # 曲曲折折|穿过: the first character is doubled.
    if before == form[0] != right[0]:
        return True
    if is_quoted(text, start, stop) or is_in_title(text, start):
        return True
    # A longer word has it, or an end of it: 冯震|奋不顾身.
    return any(first < start or end > stop for first, end in known.long_words_over(text, start, stop))


def _is_words(rest: str) -> bool:
    """Whether the rest of a form is a word, or a word and one more character."""
    if len(rest) > _SHORT + 1:
        return rest in words().long_words
    ends = {rest[:_SHORT], rest[-_SHORT:]} - _right_words().keys() - _NO_WORDS
    return not ends.isdisjoint(words().short_words)


def _ends_with_surname(before: str) -> bool:
    """Whether a name of two characters may follow: 陈|己立, but not 小陈|己经 or 过程|己经."""
    return (
        before[-1:] in _SURNAMES
        and before not in words().short_words
        and before[0] not in _NOT_BEFORE_SURNAME
    )


def _in_own_script(face: Simplified, start: int, stop: int) -> str | None:
    """The right word in the script of the source; None where the source has it already in its own way."""
    wrong = face.text[start:stop]
    right = _right_words()[wrong]
    if _is_converted(face, start) and (wrong in _SIMPLIFIED_ONLY or fold(wrong) == fold(right)):
        return None
    # Converted as one word: its characters alone may have other Traditional forms (吁吁, 籲).
    whole = face.to_source_script(start, right, length=len(right))
    target = "".join(
        source if written == meant else converted
        for source, written, meant, converted in zip(
            face.source[start:stop], wrong, right, whole, strict=True
        )
    )
    return None if target == face.source[start:stop] else target


def _is_converted(face: Simplified, place: int) -> bool:
    before = bisect_right(face.converted, (place, len(face.text))) - 1
    return before >= 0 and place < face.converted[before][1]
