"""The findings in an open document, whose parts are read once, so that a keystroke costs a part or two."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nmspeller.apps.documents.prose import Passage
from nmspeller.runtime.analysis import Check
from nmspeller.runtime.correction import clear_of
from nmspeller.runtime.edits import Change
from nmspeller.runtime.findings import Edit, Hint
from nmspeller.runtime.reading import Part
from nmspeller.text.patterns import lazy_pattern

_BATCH = 1_000
_CONTEXT = 6
_LINE_END = lazy_pattern("[\r\n]")


@dataclass(frozen=True)
class EditorFinding:
    """An edit placed in the document: replace its code points `start` to before `stop`."""

    start: int
    stop: int
    edit: Edit
    context: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Identifies the finding when the text has changed elsewhere."""
        return self.edit.source, self.edit.target, self.context

    @property
    def replacements(self) -> tuple[str, ...]:
        """The target and the alternatives, best first, each once."""
        every = dict.fromkeys((self.edit.target, *self.edit.alternatives))
        return tuple(text for text in every if text != self.edit.source)


class Prose(NamedTuple):
    """The passages of a document, and their check."""

    passages: Sequence[Passage]
    check: Check


def batches(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Each different part once, in order, in lists short enough that other documents wait little."""
    batch: list[Part] = []
    size = 0
    for part in dict.fromkeys(parts):
        if batch and size + len(part.text) > _BATCH:
            yield batch
            batch, size = [], 0
        batch.append(part)
        size += len(part.text)
    if batch:
        yield batch


def place(
    text: str, prose: Prose, known: Mapping[Part, Sequence[Change]]
) -> tuple[list[EditorFinding], list[Hint]]:
    """The findings and hints in the document's prose, as far as its parts were read."""
    edits: list[Edit] = []
    hints: list[Hint] = []
    for number, part in enumerate(prose.check.parts):
        checked = prose.check.finish(number, known.get(part, ()))
        passage = prose.passages[checked.number]
        edits += passage.in_document(checked.edits)
        hints += passage.hints_in_document(text, checked.hints)
    return [_finding(text, edit) for edit in edits], [*clear_of(edits, hints)]


def _finding(text: str, edit: Edit) -> EditorFinding:
    start, stop = edit.offset, edit.offset + edit.length
    before = _LINE_END.split(text[max(0, start - _CONTEXT) : start])[-1]
    after = _LINE_END.split(text[stop : stop + _CONTEXT])[0]
    return EditorFinding(start, stop, edit, f"{before}|{after}")
