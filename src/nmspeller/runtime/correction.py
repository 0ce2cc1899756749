"""The result of a check: the edits that the speller proposes, and the text with them applied."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

from nmspeller.messages import N_, _


class Reason(str, Enum):
    """Why an edit is proposed: `value` identifies it for programs, `label` is for people."""

    SAME_SOUND = "same_sound"
    SIMILAR_SOUND = "similar_sound"
    SIMILAR_SHAPE = "similar_shape"
    DE = "de"
    MISSING = "missing"
    EXTRA = "extra"
    SWAPPED = "swapped"
    CONTEXT = "context"
    USER_LIST = "user_list"
    RULE = "rule"

    @property
    def label(self) -> str:
        """A word or two, in the present language."""
        return _(_LABELS[self])

    @property
    def description(self) -> str:
        """A sentence, in the present language."""
        return _(DESCRIPTIONS[self])


_LABELS = {
    Reason.SAME_SOUND: N_("same sound"),
    Reason.SIMILAR_SOUND: N_("similar sound"),
    Reason.SIMILAR_SHAPE: N_("similar shape"),
    Reason.DE: N_("的地得"),
    Reason.MISSING: N_("missing character"),
    Reason.EXTRA: N_("extra character"),
    Reason.SWAPPED: N_("swapped characters"),
    Reason.CONTEXT: N_("context"),
    Reason.USER_LIST: N_("your list"),
    Reason.RULE: N_("rule"),
}
DESCRIPTIONS = {
    Reason.SAME_SOUND: N_("A character of the same sound fits the sentence better."),
    Reason.SIMILAR_SOUND: N_("A character of a similar sound fits the sentence better."),
    Reason.SIMILAR_SHAPE: N_("A character of a similar shape fits the sentence better."),
    Reason.DE: N_("Another one of 的, 地 and 得 is correct here."),
    Reason.MISSING: N_("A character seems to be missing here."),
    Reason.EXTRA: N_("A character seems to be superfluous here."),
    Reason.SWAPPED: N_("Two characters seem to be in the wrong order."),
    Reason.CONTEXT: N_("Another character fits the sentence better."),
    Reason.USER_LIST: N_("A list of replacements has another text for this one."),
    Reason.RULE: N_("A rule applies here."),
}


@dataclass(frozen=True)
class Edit:
    """Replace `source`, at code points `offset` to `offset + length` of the checked text, by `target`.

    An empty `source` inserts, an empty `target` deletes. `probability` is the model's probability of the
    target. `confidence`, from 0 to 1, is what the levels test, so it is what to filter edits by; where an
    edit was accepted only after others in its sentence were applied, both are those of that later reading.
    An edit of several characters has the lowest values of its characters; an edit by a rule or by the user's
    list has 1.0. `rule` is the id of the rule behind an edit with the reason "rule", see
    `nmspeller.runtime.rules`.
    """

    offset: int
    length: int
    source: str
    target: str
    probability: float
    alternatives: tuple[str, ...]
    reason: Reason
    confidence: float = 1.0
    rule: str | None = None

    @property
    def stop(self) -> int:
        """Where the edit ends in the checked text."""
        return self.offset + self.length


@dataclass(frozen=True)
class Hint:
    """`source`, at code points `offset` to `offset + length`, may be wrong; only a person can say.

    `rule` is the id of the rule that found it; `note`, if there is one, says what it found here.
    """

    offset: int
    length: int
    source: str
    rule: str
    note: str | None = None

    @property
    def stop(self) -> int:
        """Where the doubtful text ends."""
        return self.offset + self.length

    @property
    def explanation(self) -> str:
        """What is doubtful, in the present language."""
        from nmspeller.runtime.rules import RULES  # loaded late: most texts have no hint

        return self.note or _(RULES[self.rule].explanation)


@dataclass(frozen=True)
class Correction:
    """A checked text.

    `source` is the text as it was given, `text` the same text with `edits` applied; `edits` are in order
    and do not overlap, and nothing outside them differs. `hints` are in order, clear of the edits, and change
    nothing.
    """

    source: str
    text: str
    edits: tuple[Edit, ...]
    hints: tuple[Hint, ...] = ()

    @classmethod
    def of(cls, source: str, edits: Iterable[Edit], hints: Iterable[Hint] = ()) -> "Correction":
        """The correction of a text by edits that are in order and do not overlap."""
        edits = tuple(edits)
        return cls(source, apply_edits(source, edits) if edits else source, edits, tuple(hints))

    def explain(self, edit: Edit) -> str:
        """Why the edit is proposed, in one sentence and in the present language.

        >>> result = speller.check("我门去公园玩。")
        >>> result.explain(result.edits[0])
        '门 mén and 们 men sound the same and look similar; 我们 is a word.'
        """
        from nmspeller.runtime.why import why  # loads the word list

        return why(self.source, edit)


def apply_edits(source: str, edits: Iterable[Edit]) -> str:
    """The text with the edits, which are in order and do not overlap, applied."""
    pieces: list[str] = []
    end = 0
    for edit in edits:
        pieces += (source[end : edit.offset], edit.target)
        end = edit.stop
    return "".join((*pieces, source[end:]))


class Placed(Protocol):
    """Anything with a place in a text."""

    @property
    def offset(self) -> int: ...

    @property
    def stop(self) -> int: ...


AnyPlaced = TypeVar("AnyPlaced", bound=Placed)


def clear_of(edits: Sequence[Edit], found: Iterable[AnyPlaced]) -> Iterator[AnyPlaced]:
    """What overlaps no edit; both are in order. Neighbours do not overlap, two insertions at a place do."""
    number = 0
    for one in found:
        while number < len(edits) and _is_before(edits[number], one):
            number += 1
        if number == len(edits) or _is_before(one, edits[number]):
            yield one


def _is_before(one: Placed, other: Placed) -> bool:
    return one.stop <= other.offset and (one.offset, one.stop) != (other.offset, other.stop)
