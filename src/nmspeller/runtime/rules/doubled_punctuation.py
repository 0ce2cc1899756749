"""Two marks where one belongs: ，， 。。 、、 and ，。"""

import re
from collections.abc import Iterator, Sequence

from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Bilingual, RuleMatch, replace
from nmspeller.text.protect import Span

_ELLIPSIS_FROM = 3
# ！！ ？？ …… —— are style, or right.
_RUN = re.compile("[，、；：。]{2,}")


class DoubledPunctuation:
    """A mark written twice is one; three full stops and more are an ellipsis; two that differ are a hint."""

    id = "doubled_punctuation"
    name = Bilingual("Doubled punctuation", "标点重复")
    explanation = Bilingual(
        "Two marks stand where one belongs; an ellipsis is written ……, not 。。。.",
        "此处多写了标点；省略号应写作“……”，不用“。。。”。",
    )
    on_by_default = True

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
