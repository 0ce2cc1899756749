"""Edits and hints as LanguageTool's matches."""

import re
from dataclasses import replace
from typing import Any

from nmspeller.apps import utf16
from nmspeller.apps.http.languagetool.annotated import AnnotatedText
from nmspeller.apps.http.languagetool.rules import Selection, rule_of
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction, Edit, Hint
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
    for one in sorted(everything, key=lambda one: one.offset):
        if isinstance(one, Edit):
            one = _visible(one, plain, end)
        place = text.locate(one.offset, one.offset + one.length) if one.length else None
        if place is None or not selection.wants(rule_of(one)):
            continue
        end = one.offset + one.length
        while spans[current][1] <= one.offset:
            current += 1
        first = max(spans[current][0], one.offset - _OF_THE_SENTENCE)
        last = min(spans[current][1], end + _OF_THE_SENTENCE)
        begin = units.unit(place[0])
        found.append(
            {
                **_found(one, plain),
                "offset": begin,
                "length": units.unit(place[1]) - begin,
                "context": _context(plain, one),
                "sentence": plain[first:last].strip(),
                "ignoreForIncompleteSentence": False,
                "contextForSureMatch": 0,
            }
        )
    return found


def _visible(edit: Edit, text: str, end: int) -> Edit:
    """The edit, with the character before it if it only inserts or deletes: clients show no empty text.

    Nothing before `end`, where the last edit ended, is taken.
    """
    if (edit.source and edit.target) or edit.offset <= end:
        return edit
    before = text[edit.offset - 1]
    return replace(
        edit,
        offset=edit.offset - 1,
        length=edit.length + 1,
        source=before + edit.source,
        target=before + edit.target,
    )


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


def _found(one: Edit | Hint, text: str) -> dict[str, Any]:
    """What the match says, and what may replace the text."""
    rule = rule_of(one)
    replacements: dict[str, None] = {}
    confidence = 1.0
    if isinstance(one, Hint):
        message = one.explanation
    else:
        message = _("Perhaps {target} instead of {source}. {why}").format(
            source=one.source, target=one.target, why=why(text, one)
        )
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
