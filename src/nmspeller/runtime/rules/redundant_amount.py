"""Amounts that say one thing twice or cannot be: 约三百人左右, 三十余多, 降低两倍."""

from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import REDUNDANCY
from nmspeller.runtime.rules.closed import NUMBERS, Closed
from nmspeller.runtime.rules.rule import Example, Group, Note, Rule, RuleMatch, replace
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span

_BLANK = "[ \u00a0]?"
_NUMBER = "(?:[0-9][0-9.,]{0,12}|[一二两兩三四五六七八九十百千万萬亿億半几幾数數]{1,8})"
# What is counted, up to a number or rank of its own: 超过两万名40岁以上的员工, 至少五名处级以上干部.
_RANK = (
    "[级級岁歲]|[本专專]科|[硕碩博]士|[学學][历歷位]|[小初高]中|[职職][称稱]|"
    "工程[师師]|教授|[少中上大][将將校尉]"
)
_OWN = f"[名位个個人](?:[0-9一二三四五六七八九十]|[^，。以]{{0,4}}(?:{_RANK}))"
_UNIT = f"(?:(?!{_OWN})[^，。！？；：、,.!?;:“”‘’「」（）()《》\\s]){{0,6}}?"
# 左右 and 上下 begin words of their own, or belong to a verb: 左右邻居, 上下铺, 上下班.
_NO_LONGER = (
    "(?![为為逢滚滾手派摇搖联聯两兩移晃开開摆擺徘颠顛打翻起浮班学學楼樓车車游铺鋪邻鄰级級册冊卷脚腳眼侧側张張]|"
    "(?<=上下)文)"
)
# To ask somebody is 约, too: 约三个朋友, 他约三点见面.
_FRIENDS = "[名位个個](?:朋友|好友|同[学學事]|客[户戶])"
_ABOUT = (
    "大约|大約|大概|(?<![节節预預相邀契签簽])"
    f"(?:(?<![我你他她们們])|(?!.{_NUMBER}[点點时時]))[约約](?!{_BLANK}{_NUMBER}{_FRIENDS})"
)
# 缩小两倍 is how schools say that a figure is drawn half as large.
_PATTERN = lazy_pattern(
    f"(?P<about>(?:{_ABOUT})(?:为|為|有|是|需|在)?{_BLANK}{_NUMBER}{_BLANK}{_UNIT}{_BLANK}(?:左右|上下)){_NO_LONGER}"
    f"|(?P<over>(?:超过|超過|至少|不少于|不少於|不低于|不低於|多达|多達){_BLANK}{_NUMBER}{_BLANK}{_UNIT}以上)"
    "|(?<=[十百千万萬亿億])(?P<more>[余餘]多)(?![媒功])"
    f"|(?P<fewer>(?<![了的])(?:降低|减少|減少|下降|缩短|縮短|减轻|減輕|降)(?:了)?(?:近|约|約|将近|整整)?"
    f"{_BLANK}{_NUMBER}{_BLANK}倍)"
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
