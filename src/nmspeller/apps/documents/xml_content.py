"""Changing characters in the content of an XML element, so that all others are written as they were."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nmspeller.apps.documents.xml_events import Splice, XmlSource, escaped, events
from nmspeller.text.patterns import lazy_pattern

# CDATA sections, comments and processing instructions; what is between them is ordinary text.
_MARKUP = lazy_pattern(rb"<!\[CDATA\[(?P<cdata>.*?)\]\]>|<!--.*?-->|<\?.*?\?>", re.DOTALL)
_RAW = rb"\r\n|[\x00-\x7f]|[\xc0-\xff][\x80-\xbf]*"
# What is read as one character: a reference, a line end, any character of UTF-8.
_CHARACTER, _CHARACTER_OF_CDATA = lazy_pattern(rb"&[^;]*;|" + _RAW), lazy_pattern(_RAW)


class TextReplacement(NamedTuple):
    """Replace characters `begin` to `end` of a text by `text`."""

    begin: int
    end: int
    text: str


class _Span(NamedTuple):
    """Text that is written in one way, and where: `start` to `stop`, the marks of a CDATA section included.

    `ends` has where its first character begins, and where each character ends.
    """

    start: int
    stop: int
    ends: Sequence[int]
    is_cdata: bool

    @property
    def length(self) -> int:
        return len(self.ends) - 1

    def splices(self, xml: bytes, replacements: Sequence[TextReplacement]) -> Iterator[Splice]:
        """What changes its bytes, given what changes its characters."""
        places = [(self.ends[begin], self.ends[end], text) for begin, end, text in replacements]
        if not self.is_cdata:
            yield from (Splice(start, stop, escaped(text)) for start, stop, text in places)
            return
        content = slice(self.ends[0], self.ends[-1])
        raw = [Splice(start, stop, text.encode()) for start, stop, text in places]
        changed = XmlSource(xml[: content.stop]).with_splices(raw)[content.start :]
        if b"]]>" in changed or any("\r" in text for _, _, text in replacements):
            # This would end the section, or be read as another line end; as ordinary text it would not.
            yield Splice(self.start, self.stop, escaped(changed.decode()))
        else:
            yield from raw


def with_text(xml: bytes, replacements: Iterable[TextReplacement]) -> bytes:
    """Content with other characters in some places, in order; everything else in it stays to the byte.

    A replacement may reach over sections and comments: each span of text between them keeps its share of the
    characters, and the last takes what remains.
    """
    spans = [span for span in _spans(xml) if span.length]
    shares: list[list[TextReplacement]] = [[] for _ in spans]
    for begin, end, text in replacements:
        touched = list(_touched(spans, begin, end))
        for number, local_begin, local_end in touched:
            share = text if number == touched[-1][0] else text[: local_end - local_begin]
            text = text[len(share) :]
            shares[number].append(TextReplacement(local_begin, local_end, share))
    return XmlSource(xml).with_splices(
        [
            splice
            for span, share in zip(spans, shares, strict=True)
            for splice in (span.splices(xml, share) if share else ())
        ]
    )


def _spans(xml: bytes) -> Iterator[_Span]:
    end = 0
    for found in _MARKUP.finditer(xml):
        yield _ordinary_span(xml, end, found.start())
        if found["cdata"] is not None:
            ends = _ends(_CHARACTER_OF_CDATA, xml, *found.span("cdata"))
            yield _Span(found.start(), found.end(), ends, True)
        end = found.end()
    yield _ordinary_span(xml, end, len(xml))


def _ordinary_span(xml: bytes, start: int, stop: int) -> _Span:
    return _Span(start, stop, _ends(_CHARACTER, xml, start, stop), False)


def _ends(character: re.Pattern[bytes], xml: bytes, start: int, stop: int) -> list[int]:
    return [start, *(found.end() for found in character.finditer(xml, start, stop))]


def _touched(spans: Sequence[_Span], begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The spans that characters `begin` to `end` are in, with the range in each.

    An empty range is where the character before it is; at the very beginning, in the first span.
    """
    first = 0
    for number, span in enumerate(spans):
        after = first + span.length
        if begin == end:
            if begin <= after:
                yield number, begin - first, begin - first
                return
        elif begin < after and end > first:
            yield number, max(begin - first, 0), min(end - first, span.length)
        first = after


def text_of(xml: bytes) -> str:
    """The text of some content without elements."""
    return "".join(event.text for event in events(b"<a>%s</a>" % xml))
