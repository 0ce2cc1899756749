"""Full-width digits and percent signs in a text that has half-width ones: ９月, 50％."""

from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import TYPOGRAPHY
from nmspeller.runtime.rules.closed import NUMBERS, Closed
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span

_HALF_WIDTH = {0xFF10 + digit: 0x30 + digit for digit in range(10)} | {ord("％"): "%", ord("．"): "."}
_NUMBER = lazy_pattern(
    "(?<![0-9０-９A-Za-zＡ-Ｚａ-ｚ．.])(?<![Ａ-Ｚａ-ｚ][—－-])"
    "(?P<digits>[０-９]{1,9}(?:．[０-９]{1,9})?)(?![0-9０-９A-Za-zＡ-Ｚａ-ｚ．.])％?"
    "|(?<=[0-9])(?P<percent>％)"
)
_HALF = {
    "digits": lazy_pattern("(?<![0-9A-Za-z.])[0-9]{1,9}(?![0-9A-Za-z])"),
    "percent": lazy_pattern("(?<=[0-9])%"),
}


class MixedWidth(Rule):
    """Replaces full-width digits and percent signs where the text has no fewer half-width ones."""

    id = "mixed_width"
    name = N_("Full-width digit or percent sign")
    explanation = N_("Elsewhere in this text, digits and percent signs are half-width.")
    category = TYPOGRAPHY
    group = Group.TYPOGRAPHY
    is_precise = True
    example = Example(
        "第一季度增长5%，第二季度增长6%，第三季度增长7％。",
        "第一季度增长5%，第二季度增长6%，第三季度增长7%。",
    )

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        found = list(_NUMBER.finditer(text))
        if not found:
            return
        closed = Closed(protected, but=NUMBERS)
        rare = {
            kind
            for kind, half in _HALF.items()
            if sum(match.lastgroup == kind for match in found) <= sum(1 for _ in half.finditer(text))
        }
        for match in found:
            kind = match.lastgroup or ""
            # A number and its percent sign have one width, unless all signs in the text are full-width.
            start, stop = match.span() if "percent" in rare else match.span(kind)
            if kind in rare and not closed.overlaps(start, stop):
                yield replace(self, text, start, stop, text[start:stop].translate(_HALF_WIDTH))
