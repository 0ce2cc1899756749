"""Amounts that say one thing twice or cannot be: 约三百人左右, 三十余多, 降低两倍."""

from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import REDUNDANCY
from nmspeller.runtime.rules.closed import NUMBERS, Closed
from nmspeller.runtime.rules.rule import Example, Group, Note, Rule, RuleMatch, replace
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span

_NUMBER = "(?:[0-9][0-9.,]{0,12}|[一二两兩三四五六七八九十百千万萬亿億半几幾数數]{1,8})"
# What is counted, up to a number or rank of its own: 超过两万名40岁以上的员工, 至少五名处级以上干部.
_OWN = "[名位个個](?:[0-9一二三四五六七八九十]|.{1,2}[级級])"
_UNIT = f"(?:(?!{_OWN})[^，。！？；：、,.!?;:“”‘’「」（）()《》\\s]){{0,6}}?"
_PATTERN = lazy_pattern(
    f"(?P<about>(?:大约|大約|大概|(?<![节節预預相邀契签簽])[约約])(?:为|為|有|是|需|在)?{_NUMBER}{_UNIT}(?:左右|上下))(?![为為逢滚滾手派摇搖联聯两兩移晃开開摆擺徘颠顛打翻起浮班学學楼樓车車])"
    f"|(?P<over>(?:超过|超過|至少|不少于|不少於|不低于|不低於|多达|多達){_NUMBER}{_UNIT}以上)"
    "|(?<=[十百千万萬亿億])(?P<more>[余餘]多)"
    f"|(?P<fewer>(?<![了的])(?:降低|减少|減少|下降|缩小|縮小|缩短|縮短|减轻|減輕|降)(?:了)?(?:近|约|約|将近|整整)?{_NUMBER}倍)"
)
# Without one of these there is no match: most texts are passed over after a glance.
_NEEDED = lazy_pattern("左右|上下|以上|[余餘]多|倍")
_NOTES = {
    "about": N_("约 and 左右 say the same; one is enough."),
    "over": N_("超过, 至少 and 以上 say the same; one is enough."),
    "more": N_("余 and 多 say the same; one is enough."),
    "fewer": N_("Nothing gets smaller by a multiple; say 降低一半 or 降低到…分之一."),
}


class RedundantAmount(Rule):
    """Hints at amounts whose words contradict or repeat each other."""

    id = "redundant_amount"
    name = N_("Amount that says one thing twice")
    explanation = N_("The words around this amount repeat or contradict each other.")
    category = REDUNDANCY
    group = Group.SPELLING
    is_precise = True
    example = Example("昨天大约有三百人左右到场。", None)

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        if not _NEEDED.search(text):
            return
        closed = Closed(protected, but=NUMBERS)
        for match in _PATTERN.finditer(text):
            kind = match.lastgroup or ""
            if not closed.overlaps(*match.span(kind)):
                yield replace(self, text, *match.span(kind), None, Note(_NOTES[kind]))
