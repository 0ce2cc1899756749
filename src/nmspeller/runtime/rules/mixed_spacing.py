"""A blank between Chinese characters and Latin letters or digits, as some texts have it."""

from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import TYPOGRAPHY
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span

# Some texts have line ends as \\n.
_SEAM = lazy_pattern(f"(?<=[{HANZI}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?<!\\\\n)(?=[{HANZI}])")
_SPACED = lazy_pattern(f"(?<=[{HANZI}]) (?=[A-Za-z0-9])|(?<=[A-Za-z0-9]) (?=[{HANZI}])")


class MixedSpacing(Rule):
    """Inserts a blank where Chinese and Western text meet, in a text that mostly has one there.

    Whether there is one is a matter of taste: a text without is as right.
    """

    id = "mixed_spacing"
    name = N_("Space between Chinese and Western text")
    explanation = N_(
        "Elsewhere in this text there is a space between Chinese characters and Latin letters or digits."
    )
    category = TYPOGRAPHY
    group = Group.TYPOGRAPHY
    is_precise = True
    example = Example("我用 Python 写程序，你用Go写。", "我用 Python 写程序，你用 Go 写。")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        seams = list(_SEAM.finditer(text))
        if not seams or sum(1 for _ in _SPACED.finditer(text)) < len(seams):
            return
        closed = Closed(protected)
        for seam in seams:
            if not closed.overlaps(*seam.span()):
                yield replace(self, text, *seam.span(), " ")
