"""Text with markup, as LanguageTool's `data` parameter carries it.

Only prose is checked. Markup may have a replacement for the check (`interpretAs`: a line break for `<p>`);
such a replacement is never part of a correction.
"""

import json
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from nmspeller.apps.http.errors import ApiError
from nmspeller.messages import _
from nmspeller.text.patterns import lazy_pattern

_LONE_SURROGATE = lazy_pattern("[\ud800-\udfff]")


@dataclass(frozen=True)
class _Span:
    """A span of the plain text: its start there, and the span of the original that it or its markup has."""

    start: int
    original: int
    original_stop: int
    is_prose: bool


class AnnotatedText:
    """`plain` is what is checked, `original` what the client has; positions in both are code points."""

    def __init__(self, annotations: list[tuple[str, str | None]]) -> None:
        """Annotations are (prose, None) or (markup, what it is read as)."""
        self._spans: list[_Span] = []
        originals: list[str] = []
        reads: list[str] = []
        start = original = 0
        for written, read_as in annotations:
            read = written if read_as is None else read_as
            if read:
                self._spans.append(_Span(start, original, original + len(written), read_as is None))
            originals.append(written)
            reads.append(read)
            start += len(read)
            original += len(written)
        self.plain = "".join(reads)
        self.original = "".join(originals)
        self._starts = [span.start for span in self._spans]

    def locate(self, start: int, stop: int) -> tuple[int, int] | None:
        """Where plain[start:stop] lies in the original; None where markup is in it or cuts through it."""
        spans = self._spans[self._index_at(start) : self._index_at(stop - 1) + 1]
        if not all(span.is_prose for span in spans):
            return None
        begin, end = self.surround(start, stop)
        return (begin, end) if end - begin == stop - start else None

    def surround(self, start: int, stop: int) -> tuple[int, int]:
        """The span of the original that plain[start:stop] was made from, markup included."""
        first, last = self._spans[self._index_at(start)], self._spans[self._index_at(stop - 1)]
        begin = first.original + (start - first.start if first.is_prose else 0)
        end = last.original + stop - last.start if last.is_prose else last.original_stop
        return begin, end

    def _index_at(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1


def plain_text(text: str) -> AnnotatedText:
    """Text without markup."""
    return AnnotatedText([(text, None)])


def read_annotations(data: str) -> AnnotatedText:
    """The text of a `data` parameter: JSON with `annotation`, a list of {text} and {markup, interpretAs}."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise ApiError(400, _("'data' is not valid JSON.")) from None
    if isinstance(document, dict) and isinstance(document.get("text"), str) and "annotation" not in document:
        return plain_text(_clean(document["text"]))
    annotations = document.get("annotation") if isinstance(document, dict) else None
    if not isinstance(annotations, list):
        raise ApiError(
            400, _("'data' needs 'annotation', a list of {\"text\": …} and {\"markup\": …}, or 'text'.")
        )
    return AnnotatedText([_read_annotation(annotation) for annotation in annotations])


def _read_annotation(annotation: Any) -> tuple[str, str | None]:
    if isinstance(annotation, dict):
        text, markup = annotation.get("text"), annotation.get("markup")
        read = annotation.get("interpretAs", "")
        if isinstance(text, str) and markup is None:
            return _clean(text), None
        if isinstance(markup, str) and text is None and isinstance(read, str):
            return _clean(markup), _clean(read)
    raise ApiError(
        400,
        _("Each annotation needs either 'text' or 'markup' (optionally with 'interpretAs'), as strings."),
    )


def _clean(text: str) -> str:
    """Replace lone surrogates, which JSON can contain, by a character of the same length in both units."""
    return _LONE_SURROGATE.sub("\ufffd", text)
