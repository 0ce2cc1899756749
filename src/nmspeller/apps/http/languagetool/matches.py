"""Edits and hints as LanguageTool's matches."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile, zip_longest
from typing import Any

from nmspeller.apps import utf16
from nmspeller.apps.http.languagetool.annotated import AnnotatedText
from nmspeller.apps.http.languagetool.rules import Selection, rule_of
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction
from nmspeller.runtime.findings import Edit, Hint
from nmspeller.runtime.why import why
from nmspeller.text.windows import sentences

_AROUND = 40
# How much of a very long sentence each match quotes on either side; else answers would grow quadratically.
_OF_THE_SENTENCE = 500


def matches(text: AnnotatedText, correction: Correction, selection: Selection) -> list[dict[str, Any]]:
    """The wanted edits and hints of text.plain, placed in text.original in UTF-16 units."""
    units = utf16.Utf16(text.original)
    plain = text.plain
    spans = sentences(plain)
    found = []
    current = end = 0
    everything: list[Edit | Hint] = [*correction.edits, *correction.hints]
    wanted = [one for one in everything if selection.wants(rule_of(one))]
    wanted.sort(key=lambda one: (one.offset, one.stop))
    for one, following in zip_longest(wanted, wanted[1:]):
        free = (end, following.offset if following else len(plain))
        shown, place = next(_places(one, text, free), (one, None))
        if place is None:
            continue
        end = shown.stop
        while spans[current][1] <= shown.offset:
            current += 1
        first = max(spans[current][0], shown.offset - _OF_THE_SENTENCE)
        last = min(spans[current][1], end + _OF_THE_SENTENCE)
        begin = units.unit(place[0])
        found.append(
            {
                **_found(shown, _message(one, plain)),
                "offset": begin,
                "length": units.unit(place[1]) - begin,
                "context": _context(plain, shown),
                "sentence": plain[first:last].strip(),
                "ignoreForIncompleteSentence": False,
                "contextForSureMatch": 0,
            }
        )
    return found


def _places(
    one: Edit | Hint, text: AnnotatedText, free: tuple[int, int]
) -> Iterator[tuple[Edit | Hint, tuple[int, int]]]:
    """The forms in which a finding can be shown, the best first, each with its place in the original."""
    for shown in _forms(one, text.plain, *free):
        if shown.length and (place := text.locate(shown.offset, shown.stop)):
            yield shown, place


def _forms(one: Edit | Hint, text: str, start: int, stop: int) -> Iterator[Edit | Hint]:
    """What only inserts or deletes gets a neighbouring character: clients show no empty text.

    Only neighbours in text[start:stop] are free; one at the other side of a line end or blank comes last.
    """
    if isinstance(one, Edit) and not (one.source and one.target):
        before = text[max(start, one.offset - 1) : one.offset]
        after = text[one.stop : min(stop, one.stop + 1)]
        pairs = [(side, "") for side in before] + [("", side) for side in after]
        for before, after in sorted(pairs, key=lambda pair: "".join(pair).isspace()):
            yield replace(
                one,
                offset=one.offset - len(before),
                length=len(before) + one.length + len(after),
                source=before + one.source + after,
                target=before + one.target + after,
                alternatives=tuple(before + other + after for other in one.alternatives),
            )
    yield one
    if isinstance(one, Edit) and (shorter := _what_differs(one)).source and shorter.target:
        yield shorter


def _what_differs(edit: Edit) -> Edit:
    """An edit without what its source and target begin and end with alike, for a place that markup cuts."""
    same = _alike(edit.source, edit.target)
    source, target = edit.source[same:], edit.target[same:]
    behind = _alike(source[::-1], target[::-1])
    source, target = source[: len(source) - behind], target[: len(target) - behind]
    return replace(
        edit, offset=edit.offset + same, length=len(source), source=source, target=target, alternatives=()
    )


def _alike(one: str, other: str) -> int:
    """With how many of the same characters two texts begin."""
    return sum(1 for _pair in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def sentence_ranges(text: AnnotatedText) -> list[list[int]]:
    """Where the sentences lie in text.original, as [start, end] pairs in UTF-16 units.

    As in LanguageTool's answers, they have no blanks around them, and blank ones are left out.
    """
    units = utf16.Utf16(text.original)
    ranges = []
    for start, stop in sentences(text.plain):
        sentence = text.plain[start:stop]
        if inked := sentence.strip():
            start += len(sentence) - len(sentence.lstrip())
            begin, end = text.surround(start, start + len(inked))
            ranges.append([units.unit(begin), units.unit(end)])
    return ranges


def _message(one: Edit | Hint, text: str) -> str:
    """What was found, in a sentence or two; one that inserts or deletes explains itself."""
    if isinstance(one, Hint):
        return one.explanation
    if not (one.source and one.target):
        return why(text, one)
    return _("Perhaps {target} instead of {source}. {why}").format(
        source=one.source, target=one.target, why=why(text, one)
    )


def _found(one: Edit | Hint, message: str) -> dict[str, Any]:
    """What the match says, and what may replace the text."""
    rule = rule_of(one)
    replacements: dict[str, None] = {}
    confidence = 1.0
    if isinstance(one, Edit):
        replacements = dict.fromkeys((one.target, *one.alternatives))
        replacements.pop(one.source, None)
        confidence = one.confidence
    return {
        "message": message,
        "shortMessage": _(rule.description),
        "replacements": [{"value": value} for value in replacements],
        "type": {"typeName": "UnknownWord" if rule.category.id == "TYPOS" else "Other"},
        "rule": {**rule.described(), "confidence": round(float(confidence), 4)},
    }


def _context(text: str, edit: Edit | Hint) -> dict[str, Any]:
    """The text around an edit on one line, with dots where it was cut."""
    start, stop = max(0, edit.offset - _AROUND), min(len(text), edit.offset + edit.length + _AROUND)
    before = ("..." if start else "") + text[start : edit.offset]
    within = text[edit.offset : edit.offset + edit.length]
    after = text[edit.offset + edit.length : stop] + ("..." if stop < len(text) else "")
    return {
        "text": re.sub(r"[\r\n\t]", " ", before + within + after),
        "offset": utf16.length(before),
        "length": utf16.length(within),
    }
