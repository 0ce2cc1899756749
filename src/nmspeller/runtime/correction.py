"""The result of a check: the edits that the speller proposes, and the text with them applied."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from nmspeller.runtime.findings import Edit, Hint


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
    output: list[str] = []
    end = 0
    for edit in edits:
        output += (source[end : edit.offset], edit.target)
        end = edit.stop
    return "".join((*output, source[end:]))


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
