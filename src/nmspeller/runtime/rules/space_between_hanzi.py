"""Blanks inside words: 我们去公 园玩 → 我们去公园玩."""

import re
from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import TYPOGRAPHY
from nmspeller.runtime.rules.characters import BLANK
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span
from nmspeller.text.script import simplify
from nmspeller.text.windows import lines

# Not in a label set wide, 译  者：.
_GAP = lazy_pattern(f"(?<=[{HANZI}])[{BLANK}]{{1,2}}(?=[{HANZI}](?![：:]))")
# Blanks part names and roles, a date and its weather: 记者 王小明 通讯员 李大海, 3月5日 星期三 晴.
_ROLE = "[记記]者|通[讯訊][员員]|[摄攝]影|[编編][辑輯]"
_BEFORE_PART = lazy_pattern(f"(?:{_ROLE}|[0-9][日号號]|星期[一二三四五六日天])\\Z")
_PART = lazy_pattern(f"{_ROLE}|星期|天[气氣]")
_LONGEST_PART = 4
_SENTENCE_MARK = lazy_pattern("[，。！？；]")
_MOST_GAPS = 3
_FEW_LINES = 5


class SpaceBetweenHanzi(Rule):
    """Deletes a blank that splits a word in a sentence.

    A blank between two words may be set on purpose: it parts a heading, a line of verse, the cells of a table
    or the two characters of a name. So does one in a line without punctuation, or in a line with many.
    """

    id = "space_between_hanzi"
    name = N_("Space inside a word")
    explanation = N_("There is no space between the characters of a Chinese word.")
    category = TYPOGRAPHY
    group = Group.TYPOGRAPHY
    is_precise = True
    example = Example("周末，我们去公 园散步。", "周末，我们去公园散步。")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        bounds = lines(text)
        with_gaps = sum(_GAP.search(text, start, stop) is not None for start, stop in bounds)
        # Whoever parts words in most lines does so on purpose.
        if 2 * with_gaps > len(bounds) >= _FEW_LINES:
            return
        closed = Closed(protected)
        for start, stop in bounds:
            gaps = list(_GAP.finditer(text, start, stop))
            if not 0 < len(gaps) <= _MOST_GAPS or not _SENTENCE_MARK.search(text, start, stop):
                continue
            for gap in gaps:
                is_inside = _is_word(text[gap.start() - 1] + text[gap.end()]) and not _parts(text, gap)
                if is_inside and not closed.overlaps(*gap.span()):
                    yield replace(self, text, *gap.span(), "")


def _is_word(pair: str) -> bool:
    return simplify(pair).text in words().short_words


def _parts(text: str, gap: re.Match[str]) -> bool:
    before = text[max(0, gap.start() - _LONGEST_PART) : gap.start()]
    return _BEFORE_PART.search(before) is not None or _PART.match(text, gap.end()) is not None
