"""What the speller says of an open document, piece by piece, so that a keystroke costs one paragraph."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nmspeller.apps.documents.prose import Passage, passages
from nmspeller.runtime.correction import Edit
from nmspeller.text.windows import sentences, split

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
        """What makes it the same finding when the text has changed elsewhere."""
        return self.edit.source, self.edit.target, self.context

    @property
    def replacements(self) -> tuple[str, ...]:
        """The target and the alternatives, best first, each once."""
        every = dict.fromkeys((self.edit.target, *self.edit.alternatives))
        return tuple(text for text in every if text != self.edit.source)


class Prose(NamedTuple):
    """A passage, and the texts that are checked one by one, each with where in the passage it starts."""

    passage: Passage
    pieces: list[tuple[int, str]]


def read(text: str, format: str) -> list[Prose]:
    """The prose of a document."""
    return [Prose(passage, list(_pieces(passage.text))) for passage in passages(text, format)]


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """The text itself, unless it is so long that a keystroke would cost too much; then each sentence.

    A sentence without an end is cut too: nothing else gets its turn, nor can the server end, within a piece.
    """
    if len(text) <= _LONG_PASSAGE:
        yield 0, text
        return
    for start, stop in sentences(text):
        for window in split(text[start:stop], _LONG_PASSAGE):
            yield start + window.keep_start, text[start + window.keep_start : start + window.keep_stop]


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Each different text once, in order, in lists small enough that nobody waits long for one."""
    batch: list[str] = []
    size = 0
    for text in dict.fromkeys(texts):
        if batch and size + len(text) > _BATCH:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def place(text: str, prose: Sequence[Prose], known: Mapping[str, Sequence[Edit]]) -> list[Finding]:
    """The findings in the document's prose, as far as the edits of its pieces are known."""
    return [
        _finding(text, edit)
        for passage, pieces in prose
        for edit in passage.in_document(
            replace(edit, offset=start + edit.offset)
            for start, piece in pieces
            for edit in known.get(piece, ())
        )
    ]


def _finding(text: str, edit: Edit) -> Finding:
    start, stop = edit.offset, edit.offset + edit.length
    before = _LINE_END.split(text[max(0, start - _CONTEXT) : start])[-1]
    after = _LINE_END.split(text[stop : stop + _CONTEXT])[0]
    return Finding(start, stop, edit, f"{before}|{after}")
