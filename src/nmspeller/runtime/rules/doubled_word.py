"""A small word, or the last character of one, written twice: 我我觉得, 因为因为下雨, 取消消了.

The first two may be a stutter and the last a name, so the rule is off.
"""

import re
from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import RuleMatch, replace
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.hanzi import HANZI
from nmspeller.text.protect import Span
from nmspeller.text.script import simplify

_WORDS = (
    "我们|我們|你们|你們|他们|他們|她们|她們|它们|它們|咱们|咱們|大家|自己|我的|你的|他的|她的|这个|這個|那个|那個|这些|這些|"
    "因为|因為|所以|但是|可是|如果|虽然|雖然|而且|并且|並且|或者|以及|然后|然後|由于|由於|关于|關於|对于|對於|根据|根據|"
    "通过|通過|为了|為了|已经|已經|可以|没有|沒有|就是|还是|還是|时候|時候"
)
# 人人为我我为人人 is two clauses, and so is 告诉我我…: single characters count at a clause's start only.
_TWICE = re.compile(
    f"(?<![{HANZI}])([我你他她它这這那就也很]|{_WORDS})\\1(?!\\1)(?=[{HANZI}])|(?<=[{HANZI}])({_WORDS})\\2(?!\\2)"
)

_LETTER = f"[{HANZI}]"
# A word's last character typed twice, where the sentence then pauses or goes on with a particle.
_LAST_OF_WORD = re.compile(f"(?<=({_LETTER})({_LETTER}))\\2(?=[了的吗嗎呢吧，。！？；、\n\r]|\\Z)")
# Families and nicknames (父父), sounds of foreign names (罗罗), and measures after 一 (一根根) are doubled.
_DOUBLED_IN_NAMES = frozenset(
    "斯罗羅纳納萨薩曼利拉克尼莉娜丽麗莎妮琪佳冰圆圓父母祖乎果宝寶妹姐哥弟爷爺奶狗猫貓兔豆糖球么麼京汉"
)


class DoubledWord:
    """Deletes the second of two equal pronouns or connectives, and a word's last character after itself."""

    id = "doubled_word"
    name = N_("Doubled word")
    explanation = N_("The same word is written twice; unless it is a stutter, one is enough.")
    on_by_default = False

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        closed = Closed(protected)
        bounds = [((twice.start() + twice.end()) // 2, twice.end()) for twice in _TWICE.finditer(text)]
        bounds += (
            last.span() for last in _LAST_OF_WORD.finditer(text) if _ends_word_twice(text, last.start())
        )
        end = 0
        for start, stop in sorted(bounds):
            if start >= end and not closed.overlaps(start - (stop - start), stop):
                yield replace(self, text, start, stop, "")
                end = stop


def _ends_word_twice(text: str, place: int) -> bool:
    """Whether text[place] repeats the last character of a word, and neither word nor pattern has it twice."""
    around = simplify(text[max(0, place - 3) : place + 1]).text
    last, before = around[-1], around[-3:-2]
    known = words()
    return (
        last in known.bound
        and before not in ("", last, "一")
        and before + last in known.short_words
        and last not in _DOUBLED_IN_NAMES
        # AABB, as in 舒舒服服.
        and around[-4:-3] != before
    )
