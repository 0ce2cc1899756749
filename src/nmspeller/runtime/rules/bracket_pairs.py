"""Pairs of marks whose halves do not match: (二） → （二）, 【重要] → 【重要】, 《《书》》."""

import re
from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import PUNCTUATION
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span

_HAN = f"[^\\n()（）【】\\[\\]]{{0,30}}[{HANZI}][^\\n()（）【】\\[\\]]{{0,30}}"
# A pair, and what its first and its second half become.
_PAIRS = (
    (lazy_pattern(f"(\\()(?:{_HAN})(）)"), "（", "）"),
    (lazy_pattern(f"(（)(?:{_HAN})(?<![:;\\s])(\\))(?![,\\]}}])"), "（", "）"),
    (lazy_pattern(f"(【)(?:{_HAN})(\\])"), "【", "】"),
    (lazy_pattern(f"(\\[)(?:{_HAN})(】)"), "【", "】"),
    (lazy_pattern("(《《)[^\n《》]{1,30}(》》)"), "《", "》"),
    (lazy_pattern("(““)[^\n“”]{1,40}(””)"), "“", "”"),
    # In speech only: elsewhere the second “ may be a ” turned round.
    (
        lazy_pattern(
            "(?:(?<=：“)|(?<=^“))[^\n“”]{1,30}(“)[^\n“”]{1,20}(”)(?=[^\n“”]{0,30}”[ \t]*$)", re.MULTILINE
        ),
        "‘",
        "’",
    ),
)


class BracketPairs(Rule):
    """Gives both brackets of a pair one form where Chinese stands inside; quotations within take ‘ and ’."""

    id = "bracket_pairs"
    name = N_("Brackets that do not match")
    explanation = N_("Both halves of a pair have one form, and a quotation within a quotation has ‘’.")
    category = PUNCTUATION
    group = Group.TYPOGRAPHY
    is_precise = True
    example = Example("(二）今后的工作", "（二）今后的工作")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        closed = Closed(protected)
        halves = sorted(_doubtful(text))
        end = 0
        for start, stop, target in halves:
            if start >= end and not closed.overlaps(start, stop):
                yield replace(self, text, start, stop, target)
                end = stop


def _doubtful(text: str) -> Iterator[tuple[int, int, str]]:
    for pattern, first, second in _PAIRS:
        for pair in pattern.finditer(text):
            for half, right in ((1, first), (2, second)):
                if pair[half] != right:
                    yield *pair.span(half), right
