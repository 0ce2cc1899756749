"""Ranges written with three kinds of dash in one text: 1-5月, 3～4人, 2—3天."""

from collections import Counter
from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import CONSISTENCY
from nmspeller.runtime.rules.closed import NUMBERS, Closed
from nmspeller.runtime.rules.rule import Example, Group, Note, Rule, RuleMatch, replace
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span

_RANGE = lazy_pattern(
    f"(?<![0-9A-Za-z./—–~～－-])[0-9]{{1,4}}[年月日元人岁%％]?(?P<dash>——?|[-–~～－])[0-9]{{1,4}}(?=[%％]|[{HANZI}])"
)
_KINDS = 3


class RangeDash(Rule):
    """Hints at the rarer dashes; two kinds, one for years and one for amounts, are in order."""

    id = "range_dash"
    name = N_("Ranges with different dashes")
    explanation = N_("This text writes ranges with several kinds of dash; use one.")
    category = CONSISTENCY
    group = Group.TYPOGRAPHY
    is_precise = True
    example = Example("1-5月来了3～4人，6-8月来了2—3人。", None)

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        closed = Closed(protected, but=NUMBERS)
        found = [match for match in _RANGE.finditer(text) if not closed.overlaps(*match.span())]
        times = Counter(match["dash"] for match in found)
        if len(times) < _KINDS:
            return
        usual = max(times, key=lambda dash: (times[dash], dash))
        note = Note(
            N_("Other ranges of this text have {dash} ({times}×)."),
            (("dash", usual), ("times", str(times[usual]))),
        )
        for match in found:
            if match["dash"] != usual:
                yield replace(self, text, *match.span("dash"), None, note)
