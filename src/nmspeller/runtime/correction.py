"""The result of a check: the edits that the speller proposes, and the text with them applied."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

from nmspeller.messages import N_, _


class Reason(str, Enum):
    """Why an edit is proposed: `value` for programs, `label` for people."""

    SAME_SOUND = N_("same sound")
    SIMILAR_SOUND = N_("similar sound")
    SIMILAR_SHAPE = N_("similar shape")
    DE = N_("的地得")
    USER_WORD = N_("word of the user's list")
    RULE = N_("rule")
    CONTEXT = N_("context")

    @property
    def label(self) -> str:
        """The reason in the present language."""
        return _(self.value)


@dataclass(frozen=True)
class Edit:
    """Replace `source`, at code points `offset` to `offset + length` of the checked text, by `target`.

    `probability` is the model's probability of the target character. `confidence`, from 0 to 1, compares it
    with the probability of the source character; the levels test it, so it is what to filter edits by. Both
    are those of the first pass over the text, and so the same at every level; an edit that a level accepts
    only after the other edits of its window are applied may have a confidence below the level's threshold.
    An edit of several characters has the lowest values of its characters, a user's replacement has 1.0.
    `rule` is the id of the rule behind an edit with the reason "rule", see `nmspeller.runtime.rules`; such an
    edit has 1.0 as well, and may insert or delete.
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


@dataclass(frozen=True)
class Hint:
    """`source`, at code points `offset` to `offset + length`, may be wrong; only a person can say.

    `rule` is the id of the rule that found it.
    """

    offset: int
    length: int
    source: str
    rule: str


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


def apply_edits(source: str, edits: Iterable[Edit]) -> str:
    """The text with the edits, which are in order and do not overlap, applied."""
    pieces: list[str] = []
    end = 0
    for edit in edits:
        pieces += (source[end : edit.offset], edit.target)
        end = edit.offset + edit.length
    return "".join((*pieces, source[end:]))


class Placed(Protocol):
    """Anything with a place in a text."""

    @property
    def offset(self) -> int: ...

    @property
    def length(self) -> int: ...


AnyPlaced = TypeVar("AnyPlaced", bound=Placed)


def clear_of(edits: Sequence[Edit], found: Iterable[AnyPlaced]) -> Iterator[AnyPlaced]:
    """What neither overlaps nor touches an edit; both are in order."""
    number = 0
    for one in found:
        while number < len(edits) and edits[number].offset + edits[number].length < one.offset:
            number += 1
        if number == len(edits) or edits[number].offset > one.offset + one.length:
            yield one
