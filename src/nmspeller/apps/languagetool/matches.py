"""Edits as LanguageTool's matches."""

import re
from typing import Any

from nmspeller.apps import utf16
from nmspeller.apps.languagetool.annotated import AnnotatedText
from nmspeller.apps.languagetool.rules import CATEGORY, RULES, Selection
from nmspeller.runtime.correction import Correction, Edit
from nmspeller.text.windows import sentences

_AROUND = 40
# How much of a very long sentence each match quotes on either side; else answers would grow quadratically.
_OF_THE_SENTENCE = 500


def matches(text: AnnotatedText, correction: Correction, selection: Selection) -> list[dict[str, Any]]:
    """The wanted edits of text.plain, placed in text.original in UTF-16 units."""
    units = utf16.Utf16(text.original)
    plain = text.plain
    spans = sentences(plain)
    found = []
    current = 0
    for edit in correction.edits:
        place = text.locate(edit.offset, edit.offset + edit.length) if edit.length else None
        if place is None or not selection.wants(RULES[edit.reason]):
            continue
        while spans[current][1] <= edit.offset:
            current += 1
        begin, end = units.unit(place[0]), units.unit(place[1])
        first = max(spans[current][0], edit.offset - _OF_THE_SENTENCE)
        last = min(spans[current][1], edit.offset + edit.length + _OF_THE_SENTENCE)
        sentence = plain[first:last].strip()
        found.append(_match(edit, begin, end - begin, _context(plain, edit), sentence))
    return found


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


def _match(edit: Edit, offset: int, length: int, context: dict[str, Any], sentence: str) -> dict[str, Any]:
    rule = RULES[edit.reason]
    replacements = dict.fromkeys((edit.target, *edit.alternatives))
    replacements.pop(edit.source, None)
    return {
        "message": (
            f"“{edit.source}”可能是“{edit.target}”的误写（{rule.because}，把握 {edit.confidence:.0%}）。"
        ),
        "shortMessage": rule.description,
        "replacements": [{"value": value} for value in replacements],
        "offset": offset,
        "length": length,
        "context": context,
        "sentence": sentence,
        "type": {"typeName": "UnknownWord"},
        "rule": {
            "id": rule.id,
            "description": rule.description,
            "issueType": "misspelling",
            "category": CATEGORY,
            "isPremium": False,
            "confidence": round(float(edit.confidence), 4),
        },
        "ignoreForIncompleteSentence": False,
        "contextForSureMatch": 0,
    }


def _context(text: str, edit: Edit) -> dict[str, Any]:
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
