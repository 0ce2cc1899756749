"""Words with several forms, of which one is recommended: 帐户 → 账户, 精采 → 精彩."""

from collections.abc import Iterator, Sequence
from functools import cache

from nmspeller.messages import N_
from nmspeller.runtime.rules import word_lists
from nmspeller.runtime.rules.categories import CONSISTENCY
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Note, Rule, RuleMatch, replace
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.protect import Span
from nmspeller.text.script import Script, detect
from nmspeller.text.words import WordMatcher

_REASONS = {
    "variants_of_2001.txt": N_(
        "The national standard for words with several forms (2001) recommends {form}."
    ),
    "variants_of_dictionaries.txt": N_("Present-day dictionaries recommend {form}."),
}
# Forms that are words of another meaning, too: the head of a wolf, an actress, etching.
_OTHER_WORDS = frozenset(("狼头", "胡蝶", "浸蚀"))
# 本份 is also 本|份, and 沈思 a name: they are the word that is meant after these alone.
_ONLY_AFTER = {"本份": "守安尽实是的", "沈思": "入默在于的地静"}
# 想|像他那样, and a sea.
_NOT_BEFORE = {"想像": "我你您他她它这那", "零丁": "洋"}


class RecommendedForm(Rule):
    """Hints at forms that are no mistakes, but less usual than another. Simplified text only."""

    id = "recommended_form"
    name = N_("Recommended form of a word")
    explanation = N_("Another form of this word is recommended.")
    category = CONSISTENCY
    group = Group.SPELLING
    is_precise = False
    example = Example("请在网上登记您的帐户。", None)

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        found = sorted(_matcher().matches(text), key=lambda bounds: (bounds[0], -bounds[1]))
        if not found or detect(text) is Script.TRADITIONAL:
            return
        closed = Closed(protected)
        known = words().short_words
        end = 0
        for start, stop in found:
            across = text[max(0, start - 1) : start + 1], text[stop - 1 : stop + 1]
            is_other = not known.isdisjoint(across) or _is_other_word(text, start, stop)
            if start >= end and not is_other and not closed.overlaps(start, stop):
                yield replace(self, text, start, stop, None, _notes()[text[start:stop]])
                end = stop


def _is_other_word(text: str, start: int, stop: int) -> bool:
    form, before, after = text[start:stop], text[max(0, start - 1) : start], text[stop : stop + 1]
    if form in _OTHER_WORDS or (after and after in _NOT_BEFORE.get(form, "")):
        return True
    return form in _ONLY_AFTER and (not before or before not in _ONLY_AFTER[form])


@cache
def _notes() -> dict[str, Note]:
    return {
        variant: Note(reason, (("form", form),))
        for name, reason in _REASONS.items()
        for variant, form in word_lists.read(name).items()
    }


@cache
def _matcher() -> WordMatcher:
    return WordMatcher(_notes())
