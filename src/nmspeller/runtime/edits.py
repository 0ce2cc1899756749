"""From the model's changes to edits: neighbours joined, with alternatives and reasons."""

from collections.abc import Sequence
from typing import NamedTuple

from nmspeller.runtime.explain import reason, weakest
from nmspeller.runtime.findings import Edit, Reason
from nmspeller.text.script import Simplified

_ALTERNATIVES = 4


class Change(NamedTuple):
    """Characters that the model would write, in Simplified, for `length` of a text's, from `offset` on.

    One is replaced, none or one is there where characters are missing or where one is extra. `others` are
    further candidates for the target, best first.
    """

    offset: int
    target: str
    probability: float
    confidence: float
    others: tuple[tuple[str, float], ...] = ()
    length: int = 1

    @property
    def place(self) -> tuple[int, int]:
        """What changes are in the order of: an insertion comes before a change of the character there."""
        return self.offset, self.length


class _Placed(NamedTuple):
    """A change in the script of the source, the place of its first character there, and its reason."""

    change: Change
    place: int
    reason: Reason


def edits_of(changes: Sequence[Change], text: Simplified, places: Sequence[int]) -> list[Edit]:
    """Edits of the source, in its own script; adjacent replacements, or deletions, are one edit.

    places: where text[change.offset] stands in the source, for each change; (changes,). 的, 地 and 得 are
    separate edits: 高心得 → 高兴地 is two errors, 借少 → 介绍 is one.
    """
    groups: list[list[_Placed]] = []
    corrected = _corrected(text, changes) if text.converted else None
    for change, place in zip(changes, places, strict=True):
        placed = _Placed(change, place, _reason(change, text))
        if corrected is not None:
            placed = placed._replace(change=_in_source_script(change, text, corrected))
        if placed.change.target == text.source[change.offset : change.offset + change.length]:
            continue  # Two Simplified characters that are one in Traditional.
        if groups and _belong_together(groups[-1][-1], placed):
            groups[-1].append(placed)
        else:
            groups.append([placed])
    return [_edit(group, text.source) for group in groups]


def _reason(change: Change, text: Simplified) -> Reason:
    if not change.length:
        return Reason.MISSING
    if not change.target:
        return Reason.EXTRA
    return reason(text.text[change.offset], change.target)


def _belong_together(one: _Placed, other: _Placed) -> bool:
    """Whether two changes are neighbours, in the text that was read and in the source, and of one kind."""
    if one.place + one.change.length != other.place:
        return False
    if one.change.offset + one.change.length != other.change.offset or not other.change.length:
        return False
    alone = (Reason.DE, Reason.MISSING)
    return (one.reason is Reason.EXTRA) == (other.reason is Reason.EXTRA) and not (
        one.reason in alone or other.reason in alone
    )


def _corrected(text: Simplified, changes: Sequence[Change]) -> str:
    """The Simplified text with all replacements applied."""
    characters = list(text.text)
    for change in changes:
        if len(change.target) == change.length == 1:
            characters[change.offset] = change.target
    return "".join(characters)


def _in_source_script(change: Change, text: Simplified, corrected: str) -> Change:
    def converted(target: str) -> str:
        return text.to_source_script(change.offset, target, corrected, change.length)

    source = text.source[change.offset : change.offset + change.length]
    others = [(converted(other), probability) for other, probability in change.others]
    return change._replace(
        target=converted(change.target),
        # Two Simplified characters may be one in Traditional: the source character itself.
        others=tuple(each for each in others if each[0] != source),
    )


def _edit(group: list[_Placed], text: str) -> Edit:
    changes = [placed.change for placed in group]
    target = "".join(change.target for change in changes)
    source = "".join(text[change.offset : change.offset + change.length] for change in changes)
    swapped = len(source) == 2 and source[0] != source[1] and target == source[::-1]
    return Edit(
        offset=group[0].place,
        length=len(source),
        source=source,
        target=target,
        probability=min(change.probability for change in changes),
        alternatives=() if swapped else _alternatives(changes, target),
        reason=Reason.SWAPPED if swapped else weakest(placed.reason for placed in group),
        confidence=min(change.confidence for change in changes),
    )


def _alternatives(changes: list[Change], target: str) -> tuple[str, ...]:
    """The target with one of its characters replaced by another candidate, the most likely first."""
    if len(changes) == 1:
        variants = [(probability, other) for other, probability in changes[0].others]
    else:
        variants = [
            (probability / change.probability, target[:place] + other + target[place + 1 :])
            for place, change in enumerate(changes)
            for other, probability in change.others
        ]
    variants.sort(key=lambda alternative: -alternative[0])
    return tuple(dict.fromkeys(text for _, text in variants if text != target))[:_ALTERNATIVES]
