"""One name spelt two ways in the same text: 张林 and 张琳. A hint, never a fix: they may be two people."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import NAMES
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, also_written, replace
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span
from nmspeller.text.script import simplify
from nmspeller.text.surnames import NOT_IN_NAMES, SURNAMES
from nmspeller.text.words import WordMatcher

_GIVEN = f"[{HANZI}](?<![{NOT_IN_NAMES}])"
_NAMED = lazy_pattern(
    f"(?=(?P<name>[{SURNAMES}](?:{_GIVEN}){{1,2}}?)"
    "(?:说|說|表示|认为|認為|告诉|告訴|指出|介绍|介紹|强调|強調|回答|先生|女士|小姐|同志|老师|老師|教授|博士|同学|同學|经理|經理|主任|医生|醫生))"
)
_LEAST_TIMES = 2
_COMMON_READINGS = 2


class NameVariants(Rule):
    """Hints at the rarer of two names that differ in one character of the same sound.

    A name is a surname with one or two characters before a title or a verb of saying; either spelling must
    stand in the text at least twice.
    """

    id = "name_variants"
    name = N_("One name, two spellings")
    explanation = N_(
        "The text also has a name with the same sound but another character; check which one is right."
    )
    category = NAMES
    group = Group.SPELLING
    is_precise = True
    example = Example("张琳老师来了，张琳说好。张林老师走了，张林说不。张琳笑了。", None)

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        named = {match["name"] for match in _NAMED.finditer(text)}
        names = sorted(name for name in named if simplify(name).text not in words().short_words)
        groups = _sound_alike(names) if len(names) > 1 else []
        if not groups:
            return
        places = _places({name for group in groups for name in group}, text)
        times = Counter(name for _, name in places)
        other_of: dict[str, str] = {}
        for group in groups:
            commonest = max(group, key=lambda name: (times[name], name))
            for name in group:
                # The same name in both scripts is no mistake.
                if times[name] >= _LEAST_TIMES and simplify(name).text != simplify(commonest).text:
                    other_of.setdefault(name, commonest)
        closed = Closed(protected)
        for start, name in places:
            if name in other_of and not closed.overlaps(start, start + len(name)):
                other = other_of[name]
                note = also_written(other, times[other], times[name])
                yield replace(self, text, start, start + len(name), None, note)


def _sound_alike(names: Iterable[str]) -> list[list[str]]:
    """Groups of names of one length that differ in one character of the given name, but not in its sound."""
    # Loaded with the first names: most texts have none.
    from nmspeller.knowledge import pinyin

    alike: defaultdict[tuple[str, pinyin.Syllable, str], list[str]] = defaultdict(list)
    for name in names:
        for place in range(1, len(name)):
            for reading in pinyin.readings(name[place])[:_COMMON_READINGS]:
                alike[name[:place], reading, name[place + 1 :]].append(name)
    return [group for group in alike.values() if len(group) > 1]


def _places(names: set[str], text: str) -> list[tuple[int, str]]:
    """Where each name stands; of those that overlap the first."""
    places: list[tuple[int, str]] = []
    end = 0
    for start, stop in WordMatcher(names).matches(text):
        if start >= end:
            places.append((start, text[start:stop]))
            end = stop
    return places
