"""Quotation marks and brackets that have lost their other half, or look the wrong way."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import PUNCTUATION
from nmspeller.runtime.rules.characters import CLOSING, OPENING
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span
from nmspeller.text.windows import lines

_OPENER = dict(zip(CLOSING, OPENING, strict=True))
_QUOTES = frozenset("“‘「『")
# A mark may have a half-width or straight partner: （三) is of two widths, but balanced.
_HALF_WIDTH_PARTNER = dict(zip("“”‘’（）【】［］", "\"\"'')(][][", strict=True))
_STRAIGHT = str.maketrans("＂＇", "\"'")
_HALF_WIDTH_PAIRS = (("(", ")"), ("[", "]"))
_MARK = lazy_pattern(f"[{OPENING}{CLOSING}]")
# 1） and 甲） number a list.
_LABEL = lazy_pattern(r"(?:\A|[\s，。；：、！？])[0-9０-９A-Za-z一二三四五六七八九十甲乙丙丁]{1,3}\Z")
# -》 is an arrow.
_SHAFTS = frozenset("-—=－＝")
# An aside at the end of a message is often left open: 好耶（笑
_ASIDE = lazy_pattern(r"[（【][^\W\d_]{1,4}[ \t]*(?:[\r\n]|\Z)")
# ：） smiles and ：（ does not; nor is （（（ a bracket.
_EYES = frozenset(":：;；·^")
_AROUND_SUBJECTS = frozenset((("“", "”"), ("‘", "’"), ("「", "」"), ('"', '"'), ("'", "'")))
_LONGEST_LABEL = 6
_APOSTROPHE = lazy_pattern("[A-Za-z0-9０-９]")
# Speech may run over several paragraphs, but not over a chapter.
_LINES_OPEN = 20
_PAUSE = "，。！？；、：…"
_SENTENCE_END = tuple("。！？…；")


class _Mark(NamedTuple):
    place: int
    sign: str
    line: int


class UnbalancedMarks(Rule):
    """Hints at marks without their other half; turns quotation marks round where nothing else fits."""

    id = "unbalanced_marks"
    name = N_("Unbalanced quotation marks or brackets")
    explanation = N_("This quotation mark or bracket is unmatched or reversed.")
    category = PUNCTUATION
    group = Group.TYPOGRAPHY
    is_precise = True
    example = Example("他说：”明天见。“", "他说：“明天见。”")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        closed = Closed(protected)
        found: list[RuleMatch] = []
        lone: list[_Mark] = []
        waiting: defaultdict[str, list[_Mark]] = defaultdict(list)
        last, last_number = "", 0  # the line before that is not empty
        for number, (start, stop) in enumerate(lines(text)):
            line = text[start:stop].strip()
            if line:
                # A quotation of several paragraphs is opened in each of them, and closed in the last.
                if line[0] in _QUOTES and last.endswith(_SENTENCE_END):
                    waiting[line[0]] = [mark for mark in waiting[line[0]] if mark.line != last_number]
                last, last_number = line, number
            marks = [
                _Mark(mark.start(), mark[0], number)
                for mark in _MARK.finditer(text, start, stop)
                if not closed.overlaps(*mark.span())
            ]
            without_opener, without_closer = (
                [mark for mark in singles if not _is_other_use(text, mark.place, start)]
                for singles in _singles(marks)
            )
            if without_opener or without_closer:
                half_width = _HalfWidthSingles(text, start, stop)
                without_opener, without_closer = (
                    [mark for mark in singles if not half_width.may_pair(mark)]
                    for singles in (without_opener, without_closer)
                )
            if (without_opener or without_closer) and not any(waiting.values()):
                turned = _turned(text, start, stop, marks)
                if turned:
                    found += (replace(self, text, place, place + 1, sign) for place, sign in turned)
                    continue
            for closer in without_opener:
                opened = waiting.pop(_OPENER[closer.sign], [])
                if not any(mark.line >= number - _LINES_OPEN for mark in opened):
                    lone.append(closer)
            for opener in without_closer:
                waiting[opener.sign].append(opener)
        lone += (mark for marks in waiting.values() for mark in marks)
        found += (replace(self, text, mark.place, mark.place + 1, None) for mark in lone)
        yield from sorted(found)


def _is_other_use(text: str, place: int, line_start: int) -> bool:
    """Whether a single mark has another use: it numbers a list (1）) or is meant itself (“（”).

    Or it is an apostrophe (don’t), part of a face or an arrow, or begins an aside at the end of a line.
    In plays 〔 begins what tells what is done, and nothing closes it.
    """
    before, after = text[max(line_start, place - _LONGEST_LABEL) : place], text[place + 1 : place + 2]
    if (before[-1:], after) in _AROUND_SUBJECTS or text[place] == "〔":
        return True
    if (text[place] == "》" and before[-1:] in _SHAFTS) or _ASIDE.match(text, place):
        return True
    if text[place] in "（）" and (before[-1:] in _EYES or text[place] in (before[-1:], after)):
        return True
    if text[place] == "）":
        return _LABEL.search(before) is not None
    return text[place] in "‘’" and (_APOSTROPHE.match(before[-1:]) or _APOSTROPHE.match(after)) is not None


class _HalfWidthSingles:
    """The half-width marks of a line that lack a partner themselves, as far as their number tells."""

    def __init__(self, text: str, start: int, stop: int) -> None:
        line = text[start:stop].translate(_STRAIGHT)
        single = [sign for sign in "\"'" if line.count(sign) % 2]
        for pair in _HALF_WIDTH_PAIRS:
            if line.count(pair[0]) != line.count(pair[1]):
                single += pair
        # The first and the last place of each.
        self._places = {
            sign: (start + line.index(sign), start + line.rindex(sign)) for sign in single if sign in line
        }

    def may_pair(self, mark: _Mark) -> bool:
        """Whether one of them may be the other half of a full-width mark."""
        places = self._places.get(_HALF_WIDTH_PARTNER.get(mark.sign, ""))
        if places is None:
            return False
        first, last = places
        return last > mark.place if mark.sign in OPENING else first < mark.place


def _singles(marks: Iterable[_Mark]) -> tuple[list[_Mark], list[_Mark]]:
    """The closing marks of a line that nothing opens, and the opening marks that nothing closes."""
    opened: list[_Mark] = []
    times_opened: defaultdict[str, int] = defaultdict(int)
    without_opener: list[_Mark] = []
    without_closer: list[_Mark] = []
    for mark in marks:
        opener = _OPENER.get(mark.sign)
        if opener is None:
            opened.append(mark)
            times_opened[mark.sign] += 1
        elif not times_opened[opener]:
            without_opener.append(mark)
        else:
            while (last := opened.pop()).sign != opener:
                times_opened[last.sign] -= 1
                without_closer.append(last)
            times_opened[opener] -= 1
    return without_opener, without_closer + opened


def _turned(text: str, start: int, stop: int, marks: Sequence[_Mark]) -> list[tuple[int, str]]:
    """The quotation marks “ ” of a line to be turned round, if that sets the whole line right for certain.

    Both of ”你好“ are turned, or the one of “你好“ and ”你好” that is wrong. A mark is turned only where its
    neighbours allow nothing else: a line of a dialogue may well start inside a quotation and end in one.
    """
    if len(marks) % 2 or any(mark.sign not in "“”" for mark in marks):
        return []
    stop = start + len(text[start:stop].rstrip())
    turned: list[tuple[int, str]] = []
    for opener, closer in zip(marks[::2], marks[1::2], strict=True):
        if (opener.sign, closer.sign) == ("“", "”"):
            continue
        before = text[max(start, opener.place - 1) : opener.place]
        after = text[closer.place + 1 : min(stop, closer.place + 2)]
        inside = text[opener.place + 1 : closer.place]
        if opener.sign != "“" and before not in ("", "：", ":"):
            return []
        if closer.sign != "”" and after and after not in _PAUSE:
            return []
        if inside[-1:] in ("", "，", "：") or inside[:1] in _PAUSE:
            return []
        turned += ((mark.place, sign) for mark, sign in ((opener, "“"), (closer, "”")) if mark.sign != sign)
    return turned
