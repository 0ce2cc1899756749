"""A small word written twice: 我我觉得, 因为因为下雨. It may also be a stutter, so the rule is off."""

import re
from collections.abc import Iterator, Sequence

from nmspeller.runtime.rules.characters import HANZI
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Bilingual, RuleMatch, replace
from nmspeller.text.protect import Span

_WORDS = (
    "我们|我們|你们|你們|他们|他們|她们|她們|它们|它們|咱们|咱們|大家|自己|我的|你的|他的|她的|这个|這個|那个|那個|这些|這些|"
    "因为|因為|所以|但是|可是|如果|虽然|雖然|而且|并且|並且|或者|以及|然后|然後|由于|由於|关于|關於|对于|對於|根据|根據|"
    "通过|通過|为了|為了|已经|已經|可以|没有|沒有|就是|还是|還是|时候|時候"
)
# 人人为我我为人人 is two clauses, and so is 告诉我我…: single characters count at a clause's start only.
_TWICE = re.compile(
    f"(?<![{HANZI}])([我你他她它这這那就也很]|{_WORDS})\\1(?!\\1)(?=[{HANZI}])|(?<=[{HANZI}])({_WORDS})\\2(?!\\2)"
)


class DoubledWord:
    """Deletes the second of two equal pronouns or connectives."""

    id = "doubled_word"
    name = Bilingual("Doubled word", "重复的词")
    explanation = Bilingual(
        "The same small word stands twice; if this is no stutter, one is enough.",
        "同一个词连写了两遍；若非口吃，只留一个。",
    )
    on_by_default = False

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        closed = Closed(protected)
        for twice in _TWICE.finditer(text):
            middle = (twice.start() + twice.end()) // 2
            if not closed.overlaps(*twice.span()):
                yield replace(self, text, middle, twice.end(), "")
