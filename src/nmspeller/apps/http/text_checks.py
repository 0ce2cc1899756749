"""How the texts of a request are to be checked, and in which order the engine reads them."""

from collections.abc import Sequence
from dataclasses import dataclass

from nmspeller.runtime.analysis import Check, CheckedPart
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.edits import Change
from nmspeller.runtime.findings import Reason
from nmspeller.runtime.reading import Part


@dataclass(frozen=True)
class CheckOptions:
    """How the texts of a request are to be checked.

    replacements: pairs of a text and what always replaces it. rules: as `Speller` takes them.
    one_document: whether the texts are the passages of one document. reasons: those of the other edits that
    are wanted.
    """

    level: str | None = None
    words: tuple[str, ...] = ()
    replacements: tuple[tuple[str, str], ...] = ()
    rules: bool | tuple[str, ...] = ()
    one_document: bool = False
    reasons: frozenset[Reason] = frozenset(Reason)

    @property
    def needs_model(self) -> bool:
        """Whether an edit is wanted that the user's list does not make already."""
        return bool(self.reasons - {Reason.USER_LIST})

    @property
    def size(self) -> int:
        """How many words and replacements there are to prepare."""
        return len(self.words) + len(self.replacements)


class TextChecks:
    """The checks of a request's texts, one for all of a document or one for each.

    Raises:
        InputError: the options cannot be used.
    """

    def __init__(self, checker: Checker, texts: Sequence[str], options: CheckOptions) -> None:
        self._wanted = options.reasons
        analyzer = checker.analyzer(
            words=options.words, replacements=dict(options.replacements), rules=options.rules
        )
        checks = (
            [(0, analyzer.analyze(texts))]
            if options.one_document
            else [(number, analyzer.analyze([text])) for number, text in enumerate(texts)]
        )
        # The part of which check, and the number of that check's first text.
        self._parts: list[tuple[int, Check, int]] = [
            (first, check, number) for first, check in checks for number in range(len(check.parts))
        ]

    def groups(self, tokens: int) -> list[range]:
        """Neighbouring parts, by their numbers, of at most `tokens` together, or one part."""
        groups: list[range] = []
        size = 0
        for number in range(len(self._parts)):
            length = len(self.part(number).text)
            if groups and size + length <= tokens:
                groups[-1] = range(groups[-1].start, number + 1)
                size += length
            else:
                groups.append(range(number, number + 1))
                size = length
        return groups

    def part(self, number: int) -> Part:
        """What the engine has to read."""
        _, check, within = self._parts[number]
        return check.parts[within]

    def finish(self, number: int, changes: Sequence[Change]) -> CheckedPart:
        """What was found in a part, as far as it is wanted."""
        first, check, within = self._parts[number]
        checked = check.finish(within, changes)
        edits = tuple(edit for edit in checked.edits if edit.rule or edit.reason in self._wanted)
        return checked._replace(number=first + checked.number, edits=edits)
