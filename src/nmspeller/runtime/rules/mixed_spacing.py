"""A blank between Chinese characters and Latin letters or digits, as some houses set it."""

import re
from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import RuleMatch, replace
from nmspeller.text.hanzi import HANZI
from nmspeller.text.protect import Span

_SEAM = re.compile(f"(?<=[{HANZI}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{HANZI}])")


class MixedSpacing:
    """Inserts a blank where the scripts meet: 用Python写 → 用 Python 写. A matter of taste, so it is off."""

    id = "mixed_spacing"
    name = N_("Space between Chinese and Western text")
    explanation = N_("In this style there is a space between Chinese characters and Latin letters or digits.")
    on_by_default = False

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        closed = Closed(protected)
        for seam in _SEAM.finditer(text):
            if not closed.overlaps(*seam.span()):
                yield replace(self, text, *seam.span(), " ")
