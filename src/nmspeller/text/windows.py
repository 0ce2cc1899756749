"""Split a text of any length into windows that a model can read, so that each character is predicted once.

A line is split between sentences, and a window holds several that are short. A sentence that does not fit
into one window gets overlapping windows, which meet at the end of a clause if possible.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from nmspeller.text.patterns import lazy_pattern

CLOSING = "”’」』）》〉】〕］｝)\"'\\]}"
LINE_END = lazy_pattern("[\n\r\v\f\x85\u2028\u2029]+")
SENTENCE_END = lazy_pattern(f"[。！？；…!?;｡]+[{CLOSING}]*")
CLAUSE_END = lazy_pattern(f"[，、：,:—]+[{CLOSING}]*")

LEAST = 48
"""A window holds sentences until it has so many characters.

With fewer, the model changes more right characters in paragraphs. With more, it finds no more errors there,
and a prefilter has to let more of a text pass at a time.
"""


class Window(NamedTuple):
    """The model reads text[start:stop]; its predictions for text[keep_start:keep_stop] are kept."""

    start: int
    stop: int
    keep_start: int
    keep_stop: int


def split(text: str, limit: int) -> list[Window]:
    """Windows of at most `limit` characters whose keep ranges follow one another and cover the text exactly.

    The windows depend on nothing but the text and the limit. An empty text has none.
    """
    if limit < 1:
        raise ValueError(f"a window must hold at least one character, not {limit}")
    if not text:
        return []
    windows: list[Window] = []
    for start, stop in _groups(text, limit):
        if stop - start <= limit:
            windows.append(Window(start, stop, start, stop))
        else:
            windows.extend(_split_sentence(text, start, stop, limit))
    return windows


def lines(text: str) -> list[tuple[int, int]]:
    """The start and stop of each line with its line ends; together they cover the text."""
    return list(pairwise((0, *_cuts(LINE_END, text, 0, len(text)))))


def sentences(text: str) -> list[tuple[int, int]]:
    """The start and stop of each sentence with closing quotes and line ends; together they cover the text."""
    return [
        bounds
        for line_start, line_stop in lines(text)
        for bounds in pairwise((line_start, *_sentence_cuts(text, line_start, line_stop)))
    ]


def _cuts(pattern: re.Pattern[str], text: str, start: int, stop: int) -> Iterator[int]:
    """The ends of the pattern's matches inside text[start:stop], and stop itself, each once and in order."""
    end = start
    for match in pattern.finditer(text, start, stop):
        end = match.end()
        yield end
    if end < stop:
        yield stop


def _sentence_cuts(text: str, start: int, stop: int) -> list[int]:
    """The ends of the sentences of one line; the line end belongs to its last sentence."""
    cuts = list(_cuts(SENTENCE_END, text, start, stop))
    if len(cuts) > 1 and LINE_END.fullmatch(text, cuts[-2], stop):
        del cuts[-2]
    return cuts


def _groups(text: str, limit: int) -> Iterator[tuple[int, int]]:
    """Neighbouring sentences of a line that are read together; one that exceeds the limit stands alone."""
    for line_start, line_stop in lines(text):
        first, *others = pairwise((line_start, *_sentence_cuts(text, line_start, line_stop)))
        groups = [first]
        for start, stop in others:
            group_start = groups[-1][0]
            if start - group_start < LEAST and stop - group_start <= limit:
                groups[-1] = group_start, stop
            else:
                groups.append((start, stop))
        # The last sentences of a line have none behind them to be read with.
        if len(groups) > 1 and line_stop - groups[-1][0] < LEAST and line_stop - groups[-2][0] <= limit:
            groups[-2:] = [(groups[-2][0], line_stop)]
        yield from groups


def _split_sentence(text: str, start: int, stop: int, limit: int) -> Iterator[Window]:
    """Overlapping windows over a sentence, text[start:stop], that is longer than the limit.

    Neighbouring windows both extend an eighth of a window beyond the place where they meet.
    """
    margin = limit // 8
    window_start = keep_start = start
    while window_start + limit < stop:
        latest = window_start + limit - margin
        keep_stop = _last_clause_end(text, max(keep_start, window_start + limit // 2), latest) or latest
        yield Window(window_start, window_start + limit, keep_start, keep_stop)
        keep_start = keep_stop
        window_start = keep_stop - margin
    # The last window extends back as far as possible, since its characters have no context after them.
    yield Window(stop - limit, stop, keep_start, stop)


def _last_clause_end(text: str, after: int, latest: int) -> int | None:
    """The last end of a clause in text[after + 1 : latest + 1], if there is one."""
    ends = [match.end() for match in CLAUSE_END.finditer(text, after, latest)]
    return next((end for end in reversed(ends) if end > after), None)
