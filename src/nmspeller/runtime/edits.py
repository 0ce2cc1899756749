"""From replaced characters to edits: neighbours joined, with alternatives and reasons."""

from typing import NamedTuple

from nmspeller.runtime.correction import Edit, Reason
from nmspeller.runtime.explain import reason, weakest
from nmspeller.text.script import Simplified

_ALTERNATIVES = 4


class Change(NamedTuple):
    """The replacement of one character, in Simplified; `others` are further candidates, best first."""

    offset: int
    target: str
    probability: float
    confidence: float
    others: tuple[tuple[str, float], ...]


def edits_of(changes: list[Change], text: Simplified) -> list[Edit]:
    """Edits of the original text, in its own script; adjacent changes are one edit.

    的, 地 and 得 are separate edits: 高心得 → 高兴地 is two errors, 借少 → 介绍 is one.
    """
    groups: list[list[Change]] = []
    reasons: list[list[Reason]] = []
    corrected = _corrected(text, changes) if text.converted else None
    for change in changes:
        why = reason(text.text[change.offset], change.target)
        if corrected is not None:
            change = _in_source_script(change, text, corrected)
        if change.target == text.source[change.offset]:
            continue  # Two Simplified characters that are one in Traditional.
        if groups and groups[-1][-1].offset + 1 == change.offset and Reason.DE not in (why, reasons[-1][-1]):
            groups[-1].append(change)
            reasons[-1].append(why)
        else:
            groups.append([change])
            reasons.append([why])
    return [_edit(group, weakest(whys), text.source) for group, whys in zip(groups, reasons, strict=True)]


def _corrected(text: Simplified, changes: list[Change]) -> str:
    """The Simplified text with all changes applied."""
    characters = list(text.text)
    for change in changes:
        characters[change.offset] = change.target
    return "".join(characters)


def _in_source_script(change: Change, text: Simplified, corrected: str) -> Change:
    others = [
        (text.to_source_script(change.offset, other, corrected), probability)
        for other, probability in change.others
    ]
    return change._replace(
        target=text.to_source_script(change.offset, change.target, corrected),
        # Two Simplified characters may be one in Traditional: the source character itself.
        others=tuple(each for each in others if each[0] != text.source[change.offset]),
    )


def _edit(changes: list[Change], why: Reason, source: str) -> Edit:
    offset, length = changes[0].offset, len(changes)
    target = "".join(change.target for change in changes)
    return Edit(
        offset=offset,
        length=length,
        source=source[offset : offset + length],
        target=target,
        probability=min(change.probability for change in changes),
        alternatives=_alternatives(changes, target),
        reason=why,
        confidence=min(change.confidence for change in changes),
    )


def _alternatives(changes: list[Change], target: str) -> tuple[str, ...]:
    """The target with one of its characters replaced by another candidate, the most likely first."""
    variants = [
        (probability / change.probability, target[:place] + other + target[place + 1 :])
        for place, change in enumerate(changes)
        for other, probability in change.others
    ]
    variants.sort(key=lambda alternative: -alternative[0])
    return tuple(dict.fromkeys(text for _, text in variants if text != target))[:_ALTERNATIVES]
