"""Whose words the text of a Word or OpenDocument file is: the author's, or another person's."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.apps.documents.odf import OdfDocument
from nmspeller.apps.documents.office import TextSpan
from nmspeller.apps.documents.places import find
from nmspeller.apps.documents.word_insertions import inserted_notes, with_inserters
from nmspeller.apps.documents.word_text import AUTHOR
from nmspeller.runtime.findings import Edit


class WordsOfOthers(NamedTuple):
    """Where another person's words are in a text: from each start to its stop, in order."""

    starts: Sequence[int] = ()
    stops: Sequence[int] = ()

    def has(self, offset: int, length: int) -> bool:
        """Whether something is in them; what is only inserted at one of their ends may belong to them."""
        reach = 0 if length else 1
        before = bisect_left(self.starts, offset + length + reach)
        return before > 0 and offset < self.stops[before - 1] + reach


def words_of_others(document: object) -> WordsOfOthers:
    """Where a document has comments and, in Word, insertions that are tracked and not yet accepted.

    They are reported, and changed only on request. A tracked change in an insertion is a proposal to the
    person who made it, and changes nothing.
    """
    if not isinstance(document, DocxDocument | OdfDocument):
        return WordsOfOthers()
    is_of_others = _in_word(document) if isinstance(document, DocxDocument) else _in_a_comment(document)
    found = [
        (start, start + len(span.text))
        for start, span in zip(document.starts, document.spans, strict=True)
        if is_of_others(span)
    ]
    return WordsOfOthers([start for start, _stop in found], [stop for _start, stop in found])


def edits_of_others(document: object, edits: Iterable[Edit]) -> list[Edit]:
    """The edits that would change another person's words."""
    theirs = words_of_others(document)
    return [edit for edit in edits if theirs.has(edit.offset, edit.length)]


def _in_word(document: DocxDocument) -> Callable[[TextSpan], bool]:
    inserted = _inserted_by_others(document)
    return lambda span: span.member == document.comments or (span.member, span.start) in inserted


def _in_a_comment(document: OdfDocument) -> Callable[[TextSpan], bool]:
    def is_in_one(span: TextSpan) -> bool:
        place = find(document.markers, span.member, span.start)
        return place is not None and any(kind == "comment" for kind, _number in place.steps)

    return is_in_one


def _inserted_by_others(document: DocxDocument) -> set[tuple[str, int]]:
    """The member and the first byte of each text element that somebody other than nmspeller inserted."""
    sources = document.sources()
    notes = inserted_notes(sources[document.body].xml) if document.body in sources else {}
    return {
        (member, event.start)
        for member, source in sources.items()
        for event, author in with_inserters(source.xml, notes)
        if event.local_name == "t" and author not in (None, AUTHOR)
    }
