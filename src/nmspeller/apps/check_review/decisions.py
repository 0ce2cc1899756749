"""What the user decided on the findings of one document; the last decision can be undone."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from nmspeller.apps.documents.escapes import NONE as NO_ESCAPES
from nmspeller.apps.documents.escapes import Escapes
from nmspeller.apps.fingerprint import Fingerprint, Known, fingerprint
from nmspeller.apps.reports.findings import Finding, findings
from nmspeller.runtime.correction import Correction, apply_edits
from nmspeller.runtime.findings import Edit


class Kind(str, Enum):
    """What a decision does."""

    ACCEPT = "accept"
    IGNORE = "ignore"
    IGNORE_ALL = "ignore-all"
    ADD_WORD = "add-word"


@dataclass(frozen=True)
class Decision:
    """On one finding; `text` is the replacement, or the word."""

    kind: Kind
    finding: Fingerprint
    text: str = ""

    @property
    def pair(self) -> tuple[str, str]:
        return self.finding.source, self.finding.target


@dataclass(frozen=True)
class Carried:
    """What was decided in earlier documents and applies to all: equal findings to ignore, and words."""

    pairs: frozenset[tuple[str, str]] = frozenset()
    words: tuple[str, ...] = ()


class Decisions:
    """The findings of one document, in order, and the decisions on them.

    `earlier` are decisions of a review that was interrupted. Each applies to a finding with the same
    fingerprint, wherever it is now. One whose finding does not come again is dropped, but what is to be
    ignored everywhere stays so.
    """

    def __init__(
        self,
        text: str,
        carried: Carried,
        earlier: Iterable[Decision] = (),
        escapes: Escapes = NO_ESCAPES,
    ) -> None:
        self.text = text
        self._escapes = escapes
        self.findings: list[Finding] = []
        self._fingerprints: list[Fingerprint] = []
        self._carried = carried
        self._earlier: defaultdict[Fingerprint, list[Decision]] = defaultdict(list)
        for decision in earlier:
            self._earlier[decision.finding].append(decision)
        self._known = Known(self._earlier)
        self._restored: list[tuple[int, Decision]] = []
        self._taken: list[tuple[int, Decision]] = []

    def add(self, edits: Sequence[Edit]) -> None:
        """Further findings; earlier decisions on them are restored."""
        for one in findings(Correction(self.text, self.text, tuple(edits)), self._escapes):
            mark = fingerprint(self.text, one.offset, one.offset + one.length, one.target, edits)
            waiting = next(filter(None, map(self._earlier.__getitem__, self._known.same(mark))), None)
            if waiting:
                self._restored.append((len(self.findings), waiting.pop(0)))
            self.findings.append(one)
            self._fingerprints.append(mark)

    @property
    def restored(self) -> int:
        """How many decisions of an interrupted review apply again."""
        return len(self._restored)

    @property
    def _all(self) -> list[tuple[int, Decision]]:
        return self._restored + self._taken

    @property
    def kept(self) -> list[Decision]:
        """All decisions, to go on with later: in this review, or not yet come to in it."""
        return [decision for _index, decision in self._all] + self._waiting

    @property
    def _waiting(self) -> list[Decision]:
        return [decision for decisions in self._earlier.values() for decision in decisions]

    def next_open(self) -> int | None:
        """The first finding that nothing was decided about, if there is one."""
        decided = {index for index, _decision in self._all}
        carried = self.carried
        for index, one in enumerate(self.findings):
            if index in decided or (one.source, one.target) in carried.pairs:
                continue
            if not any(covers(word, self.text, one) for word in carried.words):
                return index
        return None

    def take(self, kind: Kind, index: int, text: str = "") -> None:
        self._taken.append((index, Decision(kind, self._fingerprints[index], text)))

    def undo(self) -> bool:
        """Take back the last decision, if there is one; its finding is open again."""
        last = self._taken or self._restored
        if last:
            last.pop()
            return True
        return False

    @property
    def carried(self) -> Carried:
        """What applies to this document and to those after it."""
        pairs = {decision.pair for decision in self.kept if decision.kind is Kind.IGNORE_ALL}
        return Carried(self._carried.pairs | pairs, (*self._carried.words, *self.words))

    @property
    def words(self) -> list[str]:
        """The words to add, in order and each once."""
        added = (decision.text for _index, decision in self._all if decision.kind is Kind.ADD_WORD)
        return list(dict.fromkeys(added))

    @property
    def accepted(self) -> dict[int, str]:
        """The replacement of each finding that is to be corrected."""
        return {index: decision.text for index, decision in self._all if decision.kind is Kind.ACCEPT}

    def edits(self) -> list[Edit]:
        """The corrections to write, in order."""
        edits: list[Edit] = []
        for index, replacement in sorted(self.accepted.items()):
            one = self.findings[index]
            edits.append(one.edit if replacement == one.target else replaced(one, replacement))
        return edits

    def after_writing(self) -> list[Decision]:
        """The decisions that still matter when corrections and words are written: what to ignore."""
        ignored = (Kind.IGNORE, Kind.IGNORE_ALL)
        marks = self._fingerprints_after_writing()
        kept = [replace(one, finding=marks[index]) for index, one in self._all if one.kind in ignored]
        return kept + [one for one in self._waiting if one.kind in ignored]

    def _fingerprints_after_writing(self) -> dict[int, Fingerprint]:
        """Those of the findings that are left, in the text with the corrections."""
        written = apply_edits(self.text, self.edits())
        left: dict[int, Edit] = {}
        shift = 0
        accepted = self.accepted
        for index, one in enumerate(self.findings):
            if index in accepted:
                shift += len(accepted[index]) - one.length
            else:
                left[index] = replace(one.edit, offset=one.offset + shift)
        edits = list(left.values())
        return {
            index: fingerprint(written, edit.offset, edit.stop, edit.target, edits)
            for index, edit in left.items()
        }


def replaced(one: Finding, replacement: str) -> Edit:
    """The finding's edit with another replacement, of which its reader is sure."""
    return replace(one.edit, target=replacement, confidence=1.0, rule=None)


def covers(word: str, text: str, one: Finding) -> bool:
    """Whether the word is in the text at the place of the finding, so that it would not be found again."""
    reach = len(word) - 1
    return word in text[max(one.offset - reach, 0) : one.offset + one.length + reach]
