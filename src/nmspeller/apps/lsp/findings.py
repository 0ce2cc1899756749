"""The findings in an open document, which is checked in parts, so that a keystroke costs one paragraph."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nmspeller.apps.documents.prose import Passage
from nmspeller.runtime.correction import Edit, Hint
from nmspeller.runtime.parts import Part, grouped, split_into_parts, whole_edits
from nmspeller.runtime.rule_edits import with_matches
from nmspeller.text.windows import sentences

if TYPE_CHECKING:
    from nmspeller.runtime.rules import RuleMatch

_LONG_PASSAGE = 1_000
_BATCH = 1_000
_CONTEXT = 6
_LINE_END = re.compile("[\r\n]")


@dataclass(frozen=True)
class Finding:
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
    """A passage, the parts of it that are checked one by one, and what the rules find in it."""

    passage: Passage
    parts: list[Part]
    matches: Sequence["RuleMatch"]


def cut(passage: Passage, window: int) -> list[Part]:
    """The parts in which a passage is checked; `window` is how many characters the model reads at once.

    A long passage is checked sentence by sentence, so that a keystroke costs one sentence, and a sentence
    without an end in parts that overlap: nothing else is checked, nor can the server end, during a part.
    """
    text = passage.text
    if len(text) <= _LONG_PASSAGE:
        return [Part(0, text, 0, len(text))]
    return [
        part.moved(start)
        for start, stop in sentences(text)
        for part in split_into_parts(text[start:stop], window)
    ]


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Each different text once, in order, in lists short enough that other documents wait little."""
    return grouped(dict.fromkeys(texts), len, _BATCH)


def place(
    text: str, prose: Iterable[Prose], known: Mapping[str, Sequence[Edit]]
) -> tuple[list[Finding], list[Hint]]:
    """The findings and hints in the document's prose, as far as the edits of its parts are known."""
    findings: list[Finding] = []
    hints: list[Hint] = []
    for passage, parts, matches in prose:
        edits, doubts = with_matches(
            [*whole_edits((part, known.get(part.text, ())) for part in parts)], matches
        )
        findings += (_finding(text, edit) for edit in passage.in_document(edits))
        hints += passage.hints_in_document(text, doubts)
    return findings, hints


def _finding(text: str, edit: Edit) -> Finding:
    start, stop = edit.offset, edit.offset + edit.length
    before = _LINE_END.split(text[max(0, start - _CONTEXT) : start])[-1]
    after = _LINE_END.split(text[stop : stop + _CONTEXT])[0]
    return Finding(start, stop, edit, f"{before}|{after}")
