"""One word written in two ways in the same text: 账号 and 帐号, 其他 and 其它."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from nmspeller.messages import N_
from nmspeller.runtime.rules import word_lists
from nmspeller.runtime.rules.categories import CONSISTENCY
from nmspeller.runtime.rules.characters import is_quoted
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, also_written, replace
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span
from nmspeller.text.words import WordMatcher

# 登陆 is to land. It is written for 登录 with one of these.
_LOGIN = lazy_pattern(
    "(?:用户|点击|重新|自动|微信|QQ|账号|帐号|密码|免费|扫码|后台|系统|网站|网上|首次|退出)登陆|"
    "登陆(?:系统|网站|账号|帐号|账户|帐户|界面|页面|密码|后台|平台|邮箱|微信|QQ|名|失败|成功|框|按钮|状态|信息|账|帐|后即可)"
)
_LONGEST_BESIDE = 4
# 其他 is right of people and things, 其它 of things alone, so that the first may well be the rarer.
_NEVER_DOUBTED = frozenset(("其他",))


class TermVariants(Rule):
    """Hints at the rarer form of a word that the text writes in two ways, and names the other one."""

    id = "term_variants"
    name = N_("One word, two forms")
    explanation = N_("The text writes this word in two ways; use one.")
    category = CONSISTENCY
    group = Group.SPELLING
    is_precise = False
    example = Example("手续太烦琐，申请也烦琐，填表更繁琐。", None)

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        places = [place for place in _matcher().matches(text) if _is_meant(text, *place)]
        times = Counter(text[start:stop] for start, stop in places)
        if not any(_others()[form] in times for form in times):
            return
        closed = Closed(protected)
        end = 0
        for start, stop in sorted(places):
            form = text[start:stop]
            other = _others()[form]
            is_rarer = (times[form], _is_preferred(form)) < (times[other], _is_preferred(other))
            is_doubtful = is_rarer and form not in _NEVER_DOUBTED and not is_quoted(text, start, stop)
            if times[other] and is_doubtful and start >= end and not closed.overlaps(start, stop):
                yield replace(self, text, start, stop, None, also_written(other, times[other], times[form]))
                end = stop


@cache
def _others() -> dict[str, str]:
    """The other form of each form."""
    preferred = word_lists.read("term_variants.txt")
    return preferred | {form: other for other, form in preferred.items()}


@cache
def _preferred() -> frozenset[str]:
    return frozenset(word_lists.read("term_variants.txt").values())


def _is_preferred(form: str) -> bool:
    return form in _preferred()


@cache
def _matcher() -> WordMatcher:
    return WordMatcher(_others())


def _is_meant(text: str, start: int, stop: int) -> bool:
    """Whether the form is a word here, not the end of one and the start of another (连|系鞋带)."""
    if text[start:stop] == "登陆":
        return _LOGIN.search(text, max(0, start - _LONGEST_BESIDE), stop + _LONGEST_BESIDE) is not None
    known = words().short_words
    return text[start:stop] in _preferred() or (
        text[max(0, start - 1) : start + 1] not in known and text[stop - 1 : stop + 1] not in known
    )
