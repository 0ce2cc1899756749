"""Dots and hyphens typed for an ellipsis or a dash: 我想... → 我想……, 他来了--终于来了 → 他来了——终于来了."""

from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import PUNCTUATION
from nmspeller.runtime.rules.characters import CLOSING, OPENING
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.prevalence import is_habit
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span

# More dots lead to a page number, and more hyphens draw a line.
_PATTERN = lazy_pattern(
    f"(?<=[{HANZI}，。！？{CLOSING}])(?P<dots>(?:\\.{{3,6}}|·{{3,6}})(?![.·]))"
    f"|(?<=[{HANZI}，。！？{CLOSING}])(?P<hyphens>--(?:-{{0,2}}))(?=[{HANZI}{OPENING}])"
)
_RIGHT = {"dots": "……", "hyphens": "——"}


class EllipsisDash(Rule):
    """Replaces dots and hyphens in Chinese text, unless the text knows nothing else."""

    id = "ellipsis_dash"
    name = N_("Ellipsis or dash")
    explanation = N_("In Chinese text an ellipsis is written …… and a dash ——.")
    category = PUNCTUATION
    group = Group.TYPOGRAPHY
    is_precise = True
    example = Example("我想...还是算了。", "我想……还是算了。")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        found = list(_PATTERN.finditer(text))
        if not found:
            return
        closed = Closed(protected)
        habits = {
            kind
            for kind, right in _RIGHT.items()
            if is_habit(sum(match.lastgroup == kind for match in found), text.count(right))
        }
        for match in found:
            kind = match.lastgroup or ""
            if kind not in habits and not closed.overlaps(*match.span()):
                yield replace(self, text, *match.span(), _RIGHT[kind])
