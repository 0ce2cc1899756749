"""Two marks where one belongs: ，， 。。 、、 and ，。"""

from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import PUNCTUATION
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span

_ELLIPSIS_FROM = 3
# ！！ ？？ …… —— are style, or right.
_RUN = lazy_pattern("[，、；：。]{2,}")


class DoubledPunctuation(Rule):
    """A mark written twice is one; three full stops and more are an ellipsis; two that differ are a hint."""

    id = "doubled_punctuation"
    name = N_("Doubled punctuation")
    explanation = N_(
        "There are two punctuation marks where one belongs; an ellipsis is written ……, not 。。。."
    )
    category = PUNCTUATION
    group = Group.TYPOGRAPHY
    is_precise = True
    example = Example("今天到此为止。。", "今天到此为止。")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        closed = Closed(protected)
        for run in _RUN.finditer(text):
            if not closed.overlaps(*run.span()):
                yield replace(self, text, *run.span(), _target(run[0]))


def _target(marks: str) -> str | None:
    if len(set(marks)) > 1:
        return None
    if len(marks) < _ELLIPSIS_FROM:
        return marks[0]
    # Many 、 or ， in a row stand for something left out, but nobody can say for what.
    return "……" if marks[0] == "。" else None
