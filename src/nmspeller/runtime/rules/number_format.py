"""Numbers that are written wrongly: 3，000元 → 3,000元, 百分之五% → 百分之五, 2０24年 → 2024年."""

from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import NUMBERS as CATEGORY
from nmspeller.runtime.rules.closed import NUMBERS, Closed
from nmspeller.runtime.rules.rule import Example, Group, Note, Rule, RuleMatch, replace
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span

_UNIT = "[元人名个個件套台臺辆輛家户戶米吨噸斤克只頭头亩畝年次条條册冊本份分多余餘万萬亿億公千平立美欧歐日港]"
_FULL_WIDTH = {0xFF10 + digit: 0x30 + digit for digit in range(10)} | {ord("，"): ","}
_PATTERN = lazy_pattern(
    # Thousands are parted by a half-width comma: a full-width one ends a clause, as in 招了86，120名是女生.
    f"(?P<comma>(?<![0-9.,，、第前])[0-9]{{1,3}}(?:，[0-9]{{3}})+(?![0-9，.,])(?={_UNIT})(?!.是))"
    # 百分之 and % say the same.
    f"|(?<=百分之)(?:[0-9]{{1,10}}(?:\\.[0-9]{{1,10}})?|[一二三四五六七八九十百零〇点點两兩]{{1,12}})(?P<percent>[%％])"
    # Two widths in one number.
    "|(?P<width>(?<![0-9０-９A-Za-z])(?=[0-9]{1,9}[０-９]|[０-９]{1,9}[0-9])[0-9０-９]{2,10}(?![0-9０-９A-Za-z]))"
    # A group of thousands has three digits; 1,2000 may be 1,200 or 12,000.
    "|(?P<group>(?<![0-9.,，、/~(（:：A-Za-z-])(?<![A-Za-z] )"
    f"[1-9][0-9]{{0,2}}(?:,[0-9]{{3}}){{0,4}},[0-9]{{4}}(?![0-9,，、.])(?={_UNIT}))"
)

# Without one of these there is no match: most texts are passed over after a glance.
_NEEDED = lazy_pattern("[0-9０-９]|百分之")


class NumberFormat(Rule):
    """Sets marks and widths in numbers right, but changes no number; hints at groups of four digits."""

    id = "number_format"
    name = N_("Number written wrongly")
    explanation = N_(
        "Within a number, digits and commas are half-width, groups have three digits, and 百分之 needs no %."
    )
    category = CATEGORY
    group = Group.SPELLING
    is_precise = True
    example = Example("这台机器卖3，000元。", "这台机器卖3,000元。")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        if not _NEEDED.search(text):
            return
        closed = Closed(protected, but=NUMBERS)
        for match in _PATTERN.finditer(text):
            kind = match.lastgroup or ""
            start, stop = match.span(kind)
            if closed.overlaps(start, stop):
                continue
            if kind == "percent":
                yield replace(self, text, start, stop, "")
            elif kind == "group":
                yield replace(self, text, start, stop, None, Note(N_("Commas part groups of three digits.")))
            else:
                yield replace(self, text, start, stop, match[kind].translate(_FULL_WIDTH))
