"""Whose words an edit of a Word document would change: the author's, or another person's."""

import re
from collections.abc import Iterable
from io import BytesIO
from zipfile import ZipFile

from nmspeller.apps.documents import word_comments
from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.apps.documents.word_text import AUTHOR, WordText
from nmspeller.runtime.correction import Edit

_AUTHOR = re.compile(rb"""[\s:]author\s*=\s*["']([^"']*)["']""")


def edits_of_others(document: object, edits: Iterable[Edit]) -> list[Edit]:
    """The edits that would change a comment, or an insertion that is tracked and not yet accepted.

    These are another person's words: they are reported, and changed only on request. A tracked change in an
    insertion is a proposal to that person, and changes nothing.
    """
    if not isinstance(document, DocxDocument):
        return []
    with ZipFile(BytesIO(document.raw)) as archive:
        comments = word_comments.part(archive, document.body)
    sources = document.sources()
    others = {
        index
        for index, span in enumerate(document.spans)
        if span.member == comments or _is_inserted(span, sources[span.member].xml)
    }
    return [edit for edit in edits if any(change.span in others for change in document.changes([edit]))]


def _is_inserted(span: WordText, xml: bytes) -> bool:
    """Whether somebody other than nmspeller inserted a text, as a tracked change."""
    if span.run.insertion is None:
        return False
    author = _AUTHOR.search(xml[slice(*span.run.insertion)])
    return author is None or author[1].decode(errors="replace") != AUTHOR
