"""Which word a place in a text belongs to: what to offer to a user who adds a word at a finding.

Chinese has no spaces, and a name that a user has to add is in no dictionary. So the text around the place is
cut into the words that the rules know, and what remains between them is taken for the unknown word.
"""

from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.hanzi import is_hanzi
from nmspeller.text.script import simplify

_Span = tuple[int, int]

_CONTEXT = 16  # characters on either side, which is enough for the cut to settle
_LONGEST_KNOWN = 8
_LONGEST = 64  # of any word, also in letters
# Transcribed names are the longest that consist of single characters.
_MOST_BESIDE = 3
_MOST_OFFERED = 4
_INSIDE_LATIN = "-'’."
# In a cut of equal length, leave single those that can stand alone.
_COST_OF_UNKNOWN = 1.3
# Characters that are words of their own beside a name far more often than part of it.
_FUNCTION = frozenset(
    "的了着过是在有和与及或而但就不没也都还又再才只很太更最吗呢吧啊呀我你您他她它们咱谁这那哪每各某个些"
    "把被让叫使给对从向往到由于为因以之所将要会能可应该想说道去来回上下里外中前后时"
)


def words_around(text: str, start: int, stop: int) -> list[_Span]:
    """Ranges of the text that may be the word at `start:stop`, the likeliest first; a gap lies in a word too.

    The list is empty where there is no word, only punctuation and spaces, or far more than one.
    """
    if stop - start > _LONGEST:
        return []
    if not any(map(is_hanzi, text[max(0, start - (start == stop)) : stop + (start == stop)])):
        return _latin_around(text, start, stop)
    left, right = _hanzi_around(text, start, stop)
    spans = _word_spans(text, left, right)
    first = next(number for number, (_, end) in enumerate(spans) if end > start or end == right)
    last = next(number for number, (_, end) in enumerate(spans) if end >= stop)
    if start == stop and spans[last][1] == stop and last + 1 < len(spans):
        first, last = last, last + 1  # a gap between two spans
    before, after = first, last
    if first < last or _length(spans[first]) == 1:
        while before > 0 and first - before < _MOST_BESIDE and _is_free(text, spans[before - 1]):
            before -= 1
        while after + 1 < len(spans) and after - last < _MOST_BESIDE and _is_free(text, spans[after + 1]):
            after += 1
    word = spans[before][0], spans[after][1]
    beside = [
        spans[number] if 0 <= number < len(spans) and not _is_function(text, spans[number]) else None
        for number in (before - 1, after + 1)
    ]
    otherwise_cut = [
        (begin, begin + 2)
        for begin in range(max(left, stop - 2), min(right - 2, start) + 1)
        if (start < stop or begin < start < begin + 2)
        and simplify(text[begin : begin + 2]).text in words().short_words
    ]
    return [*dict.fromkeys([*_with_neighbours(word, *beside), *otherwise_cut])][:_MOST_OFFERED]


def _with_neighbours(word: _Span, before: _Span | None, after: _Span | None) -> list[_Span]:
    """The word alone, with its neighbours one by one, and with both; one character is hardly a word."""
    longer = [
        *([(word[0], after[1])] if after else ()),
        *([(before[0], word[1])] if before else ()),
        *([(before[0], after[1])] if before and after else ()),
    ]
    return [*([word] if _length(word) > 1 or not longer else ()), *longer]


def _word_spans(text: str, left: int, right: int) -> list[_Span]:
    """The characters left:right in as few words and single characters as possible."""
    simple = simplify(text[left:right]).text
    known = words()
    fewest = [0.0]
    starts = [0]
    for end in range(1, len(simple) + 1):
        choices = [
            (fewest[begin] + _cost(simple[begin:end]), begin)
            for begin in range(max(0, end - _LONGEST_KNOWN), end)
            if end - begin == 1
            or simple[begin:end] in (known.short_words if end - begin == 2 else known.long_words)
        ]
        count, begin = min(choices)
        fewest.append(count)
        starts.append(begin)
    spans: list[_Span] = []
    end = len(simple)
    while end:
        spans.append((left + starts[end], left + end))
        end = starts[end]
    return spans[::-1]


def _cost(word: str) -> float:
    return _COST_OF_UNKNOWN if len(word) == 1 and word not in _FUNCTION else 1.0


def _hanzi_around(text: str, start: int, stop: int) -> _Span:
    """The range with the hanzi on either side of it, as far as the context reaches."""
    left, right = start, stop
    while left > 0 and start - left < _CONTEXT and is_hanzi(text[left - 1]):
        left -= 1
    while right < len(text) and right - stop < _CONTEXT and is_hanzi(text[right]):
        right += 1
    return left, right


def _length(span: _Span) -> int:
    return span[1] - span[0]


def _is_free(text: str, span: _Span) -> bool:
    """Whether it is a single character that may belong to an unknown word."""
    return _length(span) == 1 and text[span[0]] not in _FUNCTION


def _is_function(text: str, span: _Span) -> bool:
    return _length(span) == 1 and text[span[0]] in _FUNCTION


def _latin_around(text: str, start: int, stop: int) -> list[_Span]:
    """The letters and digits around the range, without the marks at their ends."""
    left, right = start, stop
    while left > 0 and start - left < _LONGEST and _is_latin(text[left - 1]):
        left -= 1
    while right < len(text) and right - stop < _LONGEST and _is_latin(text[right]):
        right += 1
    while left < right and text[left] in _INSIDE_LATIN:
        left += 1
    while left < right and text[right - 1] in _INSIDE_LATIN:
        right -= 1
    word = text[left:right]
    return [(left, right)] if word and all(map(_is_latin, word)) else []


def _is_latin(character: str) -> bool:
    return character in _INSIDE_LATIN or (character.isalnum() and not is_hanzi(character))
