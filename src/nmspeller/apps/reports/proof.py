"""What a proofreading report says, whatever it is written as: findings with their sentence and place."""

from collections import Counter
from dataclasses import dataclass, field

from nmspeller.apps.documents.document import Document
from nmspeller.apps.documents.office import OfficeDocument
from nmspeller.apps.reports.findings import Doubt, Finding, doubts, findings, visible
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction
from nmspeller.text.patterns import lazy_pattern

_SENTENCE_END = lazy_pattern(r"[。！？!?…][”’」』）)]*|[\r\n]")
_LONGEST = 40  # characters of the sentence on either side of a finding


@dataclass(frozen=True)
class ProofRow:
    """A finding: its sentence in three parts, what is proposed, and why; a hint proposes nothing."""

    place: str
    before: str
    wrong: str
    after: str
    right: str | None
    kind: str
    why: str

    @property
    def change(self) -> str:
        """What is wrong, and what is right."""
        return visible(self.wrong) if self.right is None else f"{visible(self.wrong)} → {visible(self.right)}"


@dataclass
class Proof:
    """What a report says of one document; `characters` of its prose, without blanks."""

    name: str
    characters: int
    rows: list[ProofRow] = field(default_factory=list)

    @classmethod
    def of(cls, document: Document, correction: Correction) -> "Proof":
        characters = sum(len("".join(passage.text.split())) for passage in document.passages)
        found: list[Finding | Doubt] = [
            *findings(correction, document.escapes),
            *doubts(correction, document.escapes),
        ]
        found.sort(key=lambda one: one.offset)
        return cls(document.name, characters, [_row(document, correction.source, one) for one in found])

    @property
    def errors(self) -> int:
        return sum(row.right is not None for row in self.rows)


def summary(proofs: list[Proof]) -> list[tuple[str, str]]:
    """The figures of all documents, each with what it counts; the kinds of errors by their number."""
    errors = sum(proof.errors for proof in proofs)
    characters = sum(proof.characters for proof in proofs)
    hints = sum(len(proof.rows) for proof in proofs) - errors
    kinds = Counter(row.kind for proof in proofs for row in proof.rows if row.right is not None)
    return [
        (_("Documents"), f"{len(proofs):,}"),
        (_("Characters"), f"{characters:,}"),
        (_("Errors"), f"{errors:,}"),
        # By this figure publishers judge a book.
        (_("Errors per 10,000 characters"), f"{10_000 * errors / max(characters, 1):.1f}"),
        *((kind, f"{count:,}") for kind, count in kinds.most_common()),
        *([(_("Hints"), f"{hints:,}")] if hints else []),
    ]


def place(document: Document, one: Finding | Doubt) -> str:
    """Where a finding is, in words for a person."""
    if isinstance(document, OfficeDocument):
        return document.place_of(one.offset).label
    return _("line {line}, column {column}").format(line=one.line, column=one.column)


def _row(document: Document, text: str, one: Finding | Doubt) -> ProofRow:
    length = len(one.hint.source) if isinstance(one, Doubt) else one.length
    before, wrong, after = sentence(text, one.offset, one.offset + length)
    if isinstance(one, Doubt):
        return ProofRow(place(document, one), before, wrong, after, None, _("hint"), one.explanation)
    return ProofRow(place(document, one), before, wrong, after, one.target, one.reason, one.why(text))


def sentence(text: str, start: int, stop: int) -> tuple[str, str, str]:
    """The sentence that text[start:stop] is in: what is before it, itself, and what is after it."""
    first = max(start - _LONGEST, 0)
    ends = [found.end() for found in _SENTENCE_END.finditer(text, first, start)]
    ellipsis = "…" if not ends and first else ""
    before = ellipsis + text[ends[-1] if ends else first : start]
    last = min(stop + _LONGEST, len(text))
    end = _SENTENCE_END.search(text, stop, last)
    after = text[stop : end.end() if end else last] + ("" if end or last == len(text) else "…")
    return before.lstrip(), text[start:stop], after.rstrip()
