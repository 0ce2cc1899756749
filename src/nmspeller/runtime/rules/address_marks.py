"""Full-width marks in an address: http：//例.cn → http://例.cn."""

from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import PUNCTUATION
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span

_MARK = lazy_pattern(
    "(?:(?<=http)|(?<=https)|(?<=HTTP)|(?<=ftp))(?P<colon>[:：]//|[:：]／／)(?=[A-Za-z0-9])"
    "|(?<=[A-Za-z0-9])(?P<stop>[。．])(?=(?:com|cn|net|org|gov|edu)(?![A-Za-z0-9]))"
    "|(?:(?<=www)|(?<=WWW))(?P<first>[。．])(?=[A-Za-z0-9])"
)


class AddressMarks(Rule):
    """Replaces full-width marks in the addresses of pages by those that browsers know."""

    id = "address_marks"
    name = N_("Full-width mark in an address")
    explanation = N_("The marks in the address of a page are half-width.")
    category = PUNCTUATION
    group = Group.TYPOGRAPHY
    is_precise = True
    example = Example("网址是http：//example.com，欢迎访问。", "网址是http://example.com，欢迎访问。")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        closed = Closed(protected)
        for match in _MARK.finditer(text):
            right = "://" if match.lastgroup == "colon" else "."
            if match[0] != right and not closed.overlaps(*match.span()):
                yield replace(self, text, *match.span(), right)
