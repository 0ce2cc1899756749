"""Whose words the text of a Word document is: the author's, or another person's."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import NamedTuple
from zipfile import ZipFile

from nmspeller.apps.documents import word_comments
from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.apps.documents.word_text import AUTHOR, WordText
from nmspeller.runtime.correction import Edit

_AUTHOR = re.compile(rb"""[\s:]author\s*=\s*["']([^"']*)["']""")


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
    """Where a document has comments, and insertions that are tracked and not yet accepted.

    They are reported, and changed only on request. A tracked change in an insertion is a proposal to the
    person who made it, and changes nothing.
    """
    if not isinstance(document, DocxDocument):
        return WordsOfOthers()
    with ZipFile(BytesIO(document.raw)) as archive:
        comments = word_comments.part(archive, document.body)
    sources = document.sources()
    found = [
        (start, start + len(span.text))
        for start, span in zip(document.starts, document.spans, strict=True)
        if span.member == comments or _is_inserted(span, sources[span.member].xml)
    ]
    return WordsOfOthers([start for start, _stop in found], [stop for _start, stop in found])


def edits_of_others(document: object, edits: Iterable[Edit]) -> list[Edit]:
    """The edits that would change another person's words."""
    theirs = words_of_others(document)
    return [edit for edit in edits if theirs.has(edit.offset, edit.length)]


def _is_inserted(span: WordText, xml: bytes) -> bool:
    """Whether somebody other than nmspeller inserted a text, as a tracked change."""
    if span.run.insertion is None:
        return False
    author = _AUTHOR.search(xml[slice(*span.run.insertion)])
    return author is None or author[1].decode(errors="replace") != AUTHOR
