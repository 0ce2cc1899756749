"""Edits and hints with line and column, adjacent edits joined."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from nmspeller.apps.documents.markup import line_starts
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction, Edit, Hint

_BLANKS = str.maketrans({" ": "␣", "\u3000": "□", "\t": "⇥", "\n": "↵", "\r": None})


def visible(text: str) -> str:
    """The text on one line, its blanks visible; ∅ if it is empty."""
    return text.translate(_BLANKS) or "∅"


@dataclass(frozen=True)
class Finding:
    """One or more adjacent edits; line and column count from 1, `line_start` is the line's offset."""

    line: int
    column: int
    line_start: int
    edits: tuple[Edit, ...]

    @property
    def offset(self) -> int:
        return self.edits[0].offset

    @property
    def length(self) -> int:
        return sum(edit.length for edit in self.edits)

    @property
    def source(self) -> str:
        return "".join(edit.source for edit in self.edits)

    @property
    def target(self) -> str:
        return "".join(edit.target for edit in self.edits)

    @property
    def reason(self) -> str:
        """Every reason once, in the present language: `same sound, similar shape`, or the rule's name."""
        return _(", ").join(dict.fromkeys(map(_reason, self.edits)))

    @property
    def confidence(self) -> float:
        """The lowest of its edits."""
        return min(edit.confidence for edit in self.edits)

    @property
    def summary(self) -> str:
        """What is wrong, what is right, why, and how sure that is, on one line."""
        return f"{self.change} ({self.reason}, {self.confidence:.2f})"

    @property
    def change(self) -> str:
        """What is wrong, and what is right."""
        return f"{visible(self.source)} → {visible(self.target)}"

    def why(self, text: str) -> str:
        """The explanation of each edit; `text` is the one that was checked."""
        # Loaded for explanations only: the rules come with it.
        from nmspeller.runtime.why import why

        return " ".join(why(text, edit) for edit in self.edits)


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
        # Loaded late: most texts have no hint.
        from nmspeller.runtime.rules import RULES

        return _(RULES[self.hint.rule].explanation)


def _reason(edit: Edit) -> str:
    if edit.rule is None:
        return edit.reason.label
    # Loaded late: most texts are checked without rules.
    from nmspeller.runtime.rules import RULES

    return _(RULES[edit.rule].name)


def doubts(correction: Correction) -> Iterator[Doubt]:
    """The hints of a correction."""
    starts = line_starts(correction.source) if correction.hints else []
    for hint in correction.hints:
        line = bisect_right(starts, hint.offset)
        yield Doubt(line, hint.offset - starts[line - 1] + 1, starts[line - 1], hint)


def findings(correction: Correction) -> Iterator[Finding]:
    """The edits of a correction; adjacent edits are one finding."""
    if not correction.edits:
        return
    starts = line_starts(correction.source)
    group: list[Edit] = []
    for edit in correction.edits:
        if group and not _belong_together(group[-1], edit):
            yield _finding(group, starts)
            group = []
        group.append(edit)
    yield _finding(group, starts)


def _belong_together(one: Edit, other: Edit) -> bool:
    """Whether two edits replace characters side by side, and no rule is behind either."""
    return one.stop == other.offset and not (one.rule or other.rule) and bool(one.length and other.length)


def _finding(group: list[Edit], starts: list[int]) -> Finding:
    line = bisect_right(starts, group[0].offset)
    return Finding(line, group[0].offset - starts[line - 1] + 1, starts[line - 1], tuple(group))
