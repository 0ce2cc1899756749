"""Where something is in an Office document, in words that help a person to find it there."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nmspeller.messages import N_, _

_LABELS = {
    "page": N_("page {number}"),
    "paragraph": N_("paragraph {number}"),
    "table": N_("table {number}"),
    "row": N_("row {number}"),
    "cell": N_("cell {number}"),
    "text_box": N_("text box"),
    "header": N_("header"),
    "footer": N_("footer"),
    "footnote": N_("footnote {number}"),
    "endnote": N_("endnote {number}"),
    "comment": N_("comment {number}"),
    "slide": N_("slide {number}"),
    "speaker_notes": N_("speaker notes"),
    "sheet": N_("sheet {number}"),
    "address": N_("at {number}"),
    "cell_comment": N_("comment"),
    "file": N_("file {number}"),
}

_WITHIN_REGIONS = frozenset(("page", "paragraph", "row", "cell", "address"))


@dataclass(frozen=True)
class Place:
    """Steps from the outermost to the innermost: a kind, and its number from 1 or its name.

    `paragraph` counts those with text outside tables and text boxes; what has no number is True.
    """

    steps: tuple[tuple[str, int | str], ...]

    @property
    def label(self) -> str:
        """In the present language: `table 2, row 3, cell 1`."""
        return _(", ").join(_(_LABELS[kind]).format(number=number) for kind, number in self.steps)

    @property
    def region(self) -> "Place":
        """What stands apart from the running text here: a table, a header, a note; no steps in the body."""
        return Place(tuple(step for step in self.steps if step[0] not in _WITHIN_REGIONS))

    @property
    def as_json(self) -> dict[str, int | str]:
        return dict(self.steps)


@dataclass(frozen=True)
class Marker:
    """The texts of a member from byte `start` on are at `place`, up to the next marker."""

    start: int
    place: Place


Markers = Mapping[str, Sequence[Marker]]
"""The markers of each member, in order."""


def find(markers: Markers, member: str, byte: int) -> Place | None:
    """The place of a byte of a member, if it is known."""
    in_member = markers.get(member, ())
    number = bisect_right(in_member, byte, key=lambda marker: marker.start) - 1
    return in_member[number].place if number >= 0 else None
