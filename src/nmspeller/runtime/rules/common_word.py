"""Everyday words with a wrong character that make no word: 按纽 → 按钮, 气喘嘘嘘 → 气喘吁吁."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache

from nmspeller.messages import N_
from nmspeller.runtime.rules import word_lists
from nmspeller.runtime.rules.categories import TYPOS
from nmspeller.runtime.rules.characters import is_quoted
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.faces import simplified
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.protect import Span
from nmspeller.text.script import Simplified, fold
from nmspeller.text.words import WordMatcher

_SHORT = 2
_SHORTEST, _LONGEST = 4, 8
# Mistakes in Simplified text only: Traditional text has them as words of their own.
_SIMPLIFIED_ONLY = frozenset(("渡假", "渡假村", "公佈", "发佈", "连络", "扫瞄", "刻划"))
# What stands before or after a form where it is right: 不能自已的深情, 工程师|付了, 四驱|干什么, 张仲景像.
_RIGHT_AFTER = {
    "自已的": "能以法禁难",
    "景像": "仲",
    "偶而": "不",
    "身驱": "孑",
    "师付": "程计影筑析理药",
    "周未": "0123456789两二三四五六七八九十几数上下本",
}
# 侯 is also a name and a title: 等|侯营长.
_AFTER_HOU = "门爷府王营连团总经主先老教局部院校书宝耀德孝"
_RIGHT_BEFORE = {
    "那时侯": _AFTER_HOU,
    "时侯": _AFTER_HOU,
    "等侯": _AFTER_HOU,
    "问侯": _AFTER_HOU,
    "遂道": "：:，“歉谢",
    "就续": "上签费保订写租",
    "驱干": "什嘛吗",
    "精萃": "水液素乳霜",
    "名星": "加",
    "历害": "关",
}
# 跟本 is 根本 before these alone; it may be 跟|本单位, too.
_ONLY_BEFORE = {"跟本": "不没无就是上"}
_SURNAMES = frozenset("张王李刘陈赵吴徐孙胡朱郭罗宋唐韩冯曹彭蔡秦")


class CommonWord(Rule):
    """Replaces what is no word by the word that it is written for.

    Every form of the list was looked up in running text. Where one of its ends makes a word with the
    character beside it (按|纽约), where it shares characters with a longer word, or where it alone is quoted,
    nothing is said.
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
    # A longer form is in doubt at the end alone that has the wrong character.
    is_short = len(form) == _SHORT
    if (is_short or form[0] != right[0]) and before + form[0] in known.short_words:
        return True
    if (is_short or form[-1] != right[-1]) and form[-1] + after in known.short_words:
        return True
    if (before and before in _RIGHT_AFTER.get(form, "")) or (after and after in _RIGHT_BEFORE.get(form, "")):
        return True
    if form in _ONLY_BEFORE and (not after or after not in _ONLY_BEFORE[form]):
        return True
    # A surname and two characters may be a name; 老张 and 小李 have none.
    if is_short and before in _SURNAMES and text[max(0, start - 2) : start - 1] not in ("老", "小"):
        return True
    # 曲曲折折|穿过: the first character is doubled.
    if before == form[0] != right[0]:
        return True
    if is_quoted(text, start, stop):
        return True
    # A longer word has it, or an end of it: 冯震|奋不顾身.
    return any(
        text[first : first + length] in known.long_words
        for length in range(_SHORTEST, _LONGEST + 1)
        for first in range(max(0, start - length + 1), stop)
        if first < start or first + length > stop
    )


def _in_own_script(face: Simplified, start: int, stop: int) -> str | None:
    """The right word in the script of the source; None where the source has it already in its own way."""
    wrong = face.text[start:stop]
    right = _right_words()[wrong]
    if _is_converted(face, start) and (wrong in _SIMPLIFIED_ONLY or fold(wrong) == fold(right)):
        return None
    characters = []
    for place, (written, meant) in enumerate(zip(wrong, right, strict=True), start):
        characters.append(face.source[place] if written == meant else face.to_source_script(place, meant))
    target = "".join(characters)
    return None if target == face.source[start:stop] else target


def _is_converted(face: Simplified, place: int) -> bool:
    before = bisect_right(face.converted, (place, len(face.text))) - 1
    return before >= 0 and place < face.converted[before][1]
