"""的 for 地 or 得 where the words around it leave no choice: 慢慢的走了 → 慢慢地走了."""

from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import TYPOS
from nmspeller.runtime.rules.characters import is_in_title
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span
from nmspeller.text.script import Script, detect

_ADVERBS = (
    "慢慢|渐渐|悄悄|默默|狠狠|偷偷|匆匆|紧紧|静静|牢牢|缓缓|急急|连连|频频|"
    "不停|不住|拼命|使劲|飞快|一个劲|高兴|兴奋|认真|仔细"
)
_VERBS = "走|跑|跳|说|看|听|站|坐|抱|抓|握|笑|哭|点|摇|离开|打开|变|爬|飞|望|盯|追|等|睡|拉|推|写|读|唱"
# What follows a verb only: of 慢慢的说法 the second word is a noun.
_AFTER_VERB = "[了着过起出到在下上住进向]"
# 高兴的点在于 and 认真的点到为止 have a noun or a phrase.
_ADVERBIAL = f"(?:{_ADVERBS})的(?!点[在到])(?=(?:{_VERBS}){_AFTER_VERB})"
# Verbs that name no thing with 的: 说的, 写的, 做的 and 吃的 may be what is said, written, made and eaten.
_COMPLEMENT = (
    "(?<![先后])[跑走飞睡跳玩唱变]的(?=(?:很|非常|太|特别)(?:好|快|慢|高|早|晚|远|近|累|开心)"
    "(?:[，。！？；了]|[ \\t]*(?:[\r\n]|\\Z)))"
)
# 高兴的走了，生气的留下了: two kinds of people.
_CLAUSE_START = lazy_pattern("(?:\\A|[，。！？；：、\\s])\\Z")
_PEOPLE = ("高兴的", "兴奋的", "认真的", "仔细的")
_OTHERS = lazy_pattern(
    f"[^，。！？；\n]{{1,4}}[，；](?!(?:{_ADVERBS})的)[^，。！？；\n]{{1,4}}的(?:{_VERBS}|留|也|都|还|不)"
)
# Who quotes a phrase without a mark of its own speaks about it; speech has one.
_PHRASE_BEFORE = lazy_pattern("[“‘「『][^，。！？；：、”’」』\n]{0,20}\\Z")
_PHRASE_AFTER = lazy_pattern("[^，。！？；：、…”’」』\n]{0,20}[”’」』]")
_NEARBY = 20
_PATTERN = lazy_pattern(f"(?P<地>{_ADVERBIAL})|(?P<得>{_COMPLEMENT})")


class DePattern(Rule):
    """Replaces 的 between an adverb and a verb by 地, and between a verb and its complement by 得.

    Traditional texts are passed over: 的 is usual there in both.
    """

    id = "de_pattern"
    name = N_("的, 地 or 得")
    explanation = N_("Use 地 between an adverb and its verb, and 得 between a verb and its complement.")
    category = TYPOS
    group = Group.SPELLING
    is_precise = True
    example = Example("他慢慢的走了过来。", "他慢慢地走了过来。")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        found = list(_PATTERN.finditer(text))
        if not found or detect(text) is Script.TRADITIONAL:
            return
        closed = Closed(protected)
        for pattern in found:
            place = pattern.end() - 1
            if not (_may_be_right(text, *pattern.span()) or closed.overlaps(place, place + 1)):
                yield replace(self, text, place, place + 1, pattern.lastgroup)


def _may_be_right(text: str, start: int, stop: int) -> bool:
    if is_in_title(text, start):
        return True
    nearby = max(0, start - _NEARBY)
    if _PHRASE_BEFORE.search(text, nearby, start) and _PHRASE_AFTER.match(text, stop):
        return True
    is_subject = text[start:stop] in _PEOPLE and _CLAUSE_START.search(text[nearby:start]) is not None
    return is_subject and _OTHERS.match(text, stop) is not None
