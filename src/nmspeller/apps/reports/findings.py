"""Edits and hints with line and column, and how they are shown."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from nmspeller.apps.documents.escapes import NONE as NO_ESCAPES
from nmspeller.apps.documents.escapes import Escapes
from nmspeller.apps.documents.markup import line_starts
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction
from nmspeller.runtime.findings import Edit, Hint

_BLANKS = str.maketrans({" ": "␣", "\u3000": "□", "\t": "⇥", "\n": "↵", "\r": None})


def visible(text: str) -> str:
    """The text on one line, its blanks visible; ∅ if it is empty."""
    return text.translate(_BLANKS) or "∅"


@dataclass(frozen=True)
class Finding:
    """An edit; line and column count from 1 in the file, `line_start` is the line's offset in the text."""

    line: int
    column: int
    line_start: int
    edit: Edit

    @property
    def offset(self) -> int:
        return self.edit.offset

    @property
    def length(self) -> int:
        return self.edit.length

    @property
    def stop_in_line(self) -> int:
        """Where it ends in the text of its line."""
        return self.offset - self.line_start + self.length

    @property
    def source(self) -> str:
        return self.edit.source

    @property
    def target(self) -> str:
        return self.edit.target

    @property
    def reason(self) -> str:
        """In the present language: `same sound`, or the rule's name."""
        if self.edit.rule is None:
            return self.edit.reason.label
        # Loaded late: most texts are checked without rules.
        from nmspeller.runtime.rules import RULES

        return _(RULES[self.edit.rule].name)

    @property
    def confidence(self) -> float:
        return self.edit.confidence

    @property
    def summary(self) -> str:
        """What is wrong, what is right, why, and how sure that is, on one line."""
        return f"{self.change} ({self.reason}, {self.confidence:.2f})"

    @property
    def change(self) -> str:
        """What is wrong, and what is right."""
        return f"{visible(self.source)} → {visible(self.target)}"

    def why(self, text: str) -> str:
        """The explanation; `text` is the one that was checked."""
        # Loaded for explanations only: the rules come with it.
        from nmspeller.runtime.why import why

        return why(text, self.edit)


@dataclass(frozen=True)
class Doubt:
    """A hint; line and column count from 1, `line_start` is the line's offset."""

    line: int
    column: int
    line_start: int
    hint: Hint

    @property
    def offset(self) -> int:
        return self.hint.offset

    @property
    def length(self) -> int:
        """Of its part in the line in which it begins."""
        return len(self.hint.source.splitlines()[0])

    @property
    def explanation(self) -> str:
        """What is doubtful, in the user's language."""
        return self.hint.explanation


def doubts(correction: Correction, escapes: Escapes = NO_ESCAPES) -> Iterator[Doubt]:
    """The hints of a correction."""
    starts = line_starts(correction.source) if correction.hints else []
    for hint in correction.hints:
        line = bisect_right(starts, hint.offset)
        start = starts[line - 1]
        yield Doubt(line, escapes.length(start, hint.offset) + 1, start, hint)


def findings(correction: Correction, escapes: Escapes = NO_ESCAPES) -> Iterator[Finding]:
    """The edits of a correction."""
    starts = line_starts(correction.source) if correction.edits else []
    for edit in correction.edits:
        line = bisect_right(starts, edit.offset)
        start = starts[line - 1]
        yield Finding(line, escapes.length(start, edit.offset) + 1, start, edit)
