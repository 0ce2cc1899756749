"""A date with another day's weekday: 2026年11月17日是星期二, not 星期三."""

from collections.abc import Iterator, Sequence
from datetime import date

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import NUMBERS as CATEGORY
from nmspeller.runtime.rules.closed import NUMBERS, Closed
from nmspeller.runtime.rules.rule import Example, Group, Note, Rule, RuleMatch, replace
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span

_DAYS = "一二三四五六日"
# 周一 after a date may begin a name, so a mark, a blank or a time of day must follow it.
_DATED = lazy_pattern(
    "(?P<since>[自从從])?(?<![0-9])(?P<year>(?:19|20)[0-9]{2})年(?P<month>[0-9]{1,2})月(?P<day>[0-9]{1,2})[日号號]"
    "[ \u00a0]?(?P<mark>[（(，,]?)[ \u00a0]?"
    f"(?P<said>(?:星期|[礼禮]拜|[周週](?=[{_DAYS}](?:[）)，,。；;、\\s上下早晚中凌]|\\Z)))[{_DAYS}天])(?![至到、和~～—-])"
)

# Without one of these there is no match: most texts are passed over after a glance.
_NEEDED = lazy_pattern("(?:19|20)[0-9]{2}年")


class Weekday(Rule):
    """Hints at a weekday that does not fit the date before it: either may be wrong."""

    id = "weekday"
    name = N_("Weekday that does not fit the date")
    explanation = N_("This date is another day of the week.")
    category = CATEGORY
    group = Group.SPELLING
    is_precise = True
    example = Example("会议定于2026年11月17日（星期三）召开。", None)

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        if not _NEEDED.search(text):
            return
        closed = Closed(protected, but=NUMBERS)
        for match in _DATED.finditer(text):
            # 自2026年11月17日，周日休息: every Sunday from then on.
            if match["since"] and match["mark"] in ("，", ","):
                continue
            try:
                day = date(int(match["year"]), int(match["month"]), int(match["day"]))
            except ValueError:
                continue
            right = _DAYS[day.weekday()]
            if match["said"][-1].replace("天", "日") != right and not closed.overlaps(*match.span()):
                note = Note(N_("This date is a {weekday}."), (("weekday", match["said"][:-1] + right),))
                yield replace(self, text, *match.span("said"), None, note)
