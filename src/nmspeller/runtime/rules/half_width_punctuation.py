"""Half-width marks in Chinese sentences: 你好,世界 → 你好，世界."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import PUNCTUATION
from nmspeller.runtime.rules.characters import BLANK, CLOSING, OPENING
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.prevalence import is_habit
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span
from nmspeller.text.windows import lines

_FULL_WIDTH = str.maketrans(",;:!?.", "，；：！？。")
# A mark belongs to the Chinese text if that stands on both sides of it, or if it closes the line. A full stop
# between Chinese characters may part a foreign name (约翰.史密斯), so it counts at the end of a line only.
_MARK = lazy_pattern(
    f"(?<=[{HANZI}{CLOSING}])(?:[,;:]|[!?]{{1,3}})"
    f"(?:[{BLANK}]?(?=[{HANZI}{OPENING}])|(?=[{CLOSING}]|[ \t]*(?:[\n\r]|\\Z)))"
    f"|(?<=[{HANZI}]{{4}})\\.(?=[{CLOSING}]?[ \t]*(?:[\n\r]|\\Z))"
)
_FULL_STOP = lazy_pattern("[。！？；]")
_SENTENCE_MARK = lazy_pattern("[。！？；，：]")
_SEPARATOR = lazy_pattern("[,;]")
_FEW_CELLS, _MANY_CELLS = 2, 5
_LONGEST_CELL = 6


class HalfWidthPunctuation(Rule):
    """Half-width marks with Chinese around them become full-width ones, and swallow the blank after them.

    A text that hardly has any full-width ones is left as it is.
    """

    id = "half_width_punctuation"
    name = N_("Half-width punctuation")
    explanation = N_("Chinese sentences use full-width punctuation: ，；：！？。")
    category = PUNCTUATION
    group = Group.TYPOGRAPHY
    is_precise = True
    example = Example("天黑了, 我们回家吧!", "天黑了，我们回家吧！")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        half = sum(1 for _ in _MARK.finditer(text))
        if is_habit(half, sum(map(text.count, "，；：！？"))):
            return
        closed = Closed(protected)
        for start, stop in lines(text):
            marks = [mark for mark in _MARK.finditer(text, start, stop) if not closed.overlaps(*mark.span())]
            for (first, last), of_sentence in groupby(marks, _sentence_around(text, start, stop)):
                if not _is_row(text[first:last]):
                    for mark in of_sentence:
                        yield replace(self, text, *mark.span(), mark[0].rstrip(BLANK).translate(_FULL_WIDTH))


def _sentence_around(text: str, start: int, stop: int) -> Callable[[re.Match[str]], tuple[int, int]]:
    """The sentence of this line that a mark is in, full-width stop included; half-width marks end none."""
    bounds = [start, *(end.end() for end in _FULL_STOP.finditer(text, start, stop)), stop]

    def around(mark: re.Match[str]) -> tuple[int, int]:
        after = bisect_right(bounds, mark.start())
        return bounds[after - 1], bounds[after]

    return around


def _is_row(sentence: str) -> bool:
    """Whether it is a row of a table or a list of short words, no sentence: 张三,李四,王五."""
    if _SENTENCE_MARK.search(sentence):
        return False
    lengths = [len(cell.strip()) for cell in _SEPARATOR.split(sentence)]
    is_list = len(lengths) > _MANY_CELLS and sum(lengths) <= _LONGEST_CELL * len(lengths)
    return is_list or (len(lengths) > _FEW_CELLS and max(lengths) <= _LONGEST_CELL)
