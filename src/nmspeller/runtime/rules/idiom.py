"""Idioms with one wrong character: 按步就班 → 按部就班."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import TYPOS
from nmspeller.runtime.rules.characters import CLOSING, OPENING
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.faces import simplified
from nmspeller.runtime.rules.likeness import is_confusable, is_sure_slip
from nmspeller.runtime.rules.near_idioms import Near, NearIdioms
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span
from nmspeller.text.script import Simplified, fold
from nmspeller.text.windows import lines

_BESIDE = 20
_SENTENCE_MARK = lazy_pattern("[，。！？；…,!?;]")
_QUOTES = frozenset(OPENING + CLOSING + "\"'") - frozenset("（）")
# A dictionary explains a form of an idiom, or sends to another.
_CROSS_REFERENCES = lazy_pattern("[见見同][“「]|[谓謂]")


class Idiom(Rule):
    """Replaces a stretch that is one wrong character away from an idiom, and is no word itself.

    The wrong character looks like the right one, or the stretch is a known mistake. Where it may be meant as
    it stands, because it is part of a known word, consists of two words, or forms one with what stands
    outside, or where two idioms are equally near, nothing is said. Names, titles and advertisements play upon
    idioms (霸王别鸡), so nothing is said in quotation marks and in lines without punctuation either.
    """

    id = "idiom"
    name = N_("Idiom with a wrong character")
    explanation = N_("One character of this idiom is wrong: it sounds or looks like the right one.")
    category = TYPOS
    group = Group.SPELLING
    is_precise = True
    example = Example("他还是按步就班地复习。", "他还是按部就班地复习。")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        face = simplified(text)
        closed = Closed(protected)
        end = 0
        for near in _in_prose(text, _unambiguous(face.text, _index().near(face.text))):
            if near.start < end or closed.overlaps(near.start, near.stop) or _is_right(face.text, near):
                continue
            target = _in_own_script(face, near)
            if target is not None:
                yield replace(self, text, near.start, near.stop, target)
                end = near.stop


@cache
def _index() -> NearIdioms:
    return NearIdioms(words().idioms, words().mistakes)


def _unambiguous(text: str, found: Iterable[Near]) -> list[Near]:
    """One for each stretch, in order; none where several idioms are as near.

    An idiom whose character sounds or looks like the written one is nearer than others.
    """
    by_span: defaultdict[tuple[int, int], set[Near]] = defaultdict(set)
    for near in found:
        by_span[near.start, near.stop].add(near)
    nearest = (
        {near for near in several if is_confusable(text[near.doubtful], near.idiom[near.place])} or several
        for several in by_span.values()
    )
    return sorted(near for several in nearest if len(several) == 1 for near in several)


def _in_prose(text: str, found: Sequence[Near]) -> Iterator[Near]:
    """Those in lines that have punctuation, but none beside a quotation mark, and no dictionary's entries."""
    if not found:
        return
    bounds = iter(lines(text))
    stop, is_prose = 0, False
    for near in found:
        while near.start >= stop:
            start, stop = next(bounds)
            is_prose = _SENTENCE_MARK.search(text, start, stop) is not None
        beside = {text[max(0, near.start - 1) : near.start], text[near.stop : near.stop + 1]}
        is_entry = _CROSS_REFERENCES.match(text, near.stop) is not None
        if is_prose and not is_entry and beside.isdisjoint(_QUOTES):
            yield near


def _is_right(text: str, near: Near) -> bool:
    """Whether the stretch may be meant as it stands."""
    known = words()
    as_written, doubtful = text[near.start : near.stop], near.doubtful
    # Who also writes the right form beside it speaks about the two, as a dictionary does.
    if near.idiom in text[max(0, near.start - _BESIDE) : near.stop + _BESIDE]:
        return True
    if as_written in known.mistakes:
        return False
    written, meant = text[doubtful], near.idiom[near.place]
    if "".join(sorted(written + meant)) in known.variants or not is_sure_slip(written, meant):
        return True
    return (
        {as_written[:2], as_written[2:]} <= known.short_words
        or (doubtful == near.start and text[max(0, doubtful - 1) : doubtful + 1] in known.short_words)
        or (doubtful + 1 == near.stop and text[doubtful : doubtful + 2] in known.short_words)
        or any(known.long_words_over(text, doubtful, doubtful + 1))
    )


def _in_own_script(face: Simplified, near: Near) -> str | None:
    """The stretch of the source with its doubtful character replaced; None where that changes nothing."""
    place, right = near.doubtful, near.idiom[near.place]
    if face.converted and fold(face.text[place]) == fold(right):
        return None
    target = face.to_source_script(place, right)
    if target == face.source[place]:
        return None
    return face.source[near.start : place] + target + face.source[place + 1 : near.stop]
