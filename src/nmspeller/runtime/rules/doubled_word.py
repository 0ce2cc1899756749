"""A word that needs another after it written twice: 会议已经已经结束 → 会议已经结束."""

from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import REPETITIONS
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span
from nmspeller.text.windows import lines

# Words that never end a clause, so that two of them do not stand side by side by chance (救了我们|我们还…);
# those that people stutter with (但是但是), stress (这些这些) or count with (一种一种地试) are left out.
_WORDS = (
    "已经|已經|由于|由於|关于|關於|对于|對於|根据|根據|通过|通過|为了|為了|以及|或者|并且|並且|虽然|雖然|如果|"
    "其中|目前|正在|这个|這個|这种|這種|每个|每個|各种|各種|进行|進行"
)
# The second may begin a longer word: 根据|根据地.
_LONGER = "(?<=根据|根據)地|(?<=通过|通過)[率量]|(?<=进行|進行)曲"
_TWICE = lazy_pattern(f"({_WORDS})\\1(?!\\1|{_LONGER})(?=[{HANZI}])")
# A stutter is in speech: there are quotation marks, dots or particles in its line, or no full stop.
_FULL_STOP = lazy_pattern("[。；]")
_SPEECH = lazy_pattern('[“”「」『』"…！？!?~～啊吧呢嘛哦呀哎唉]|\\.\\.|。。')


class DoubledWord(Rule):
    """Deletes the second of two equal words in prose; in speech it may be a stutter."""

    id = "doubled_word"
    name = N_("Doubled word")
    explanation = N_("The same word is written twice; one is enough.")
    category = REPETITIONS
    group = Group.SPELLING
    is_precise = True
    example = Example("比赛已经已经结束，观众都走了。", "比赛已经结束，观众都走了。")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        found = list(_TWICE.finditer(text))
        if not found:
            return
        closed = Closed(protected)
        bounds = iter(lines(text))
        stop, is_prose = 0, False
        for twice in found:
            while twice.start() >= stop:
                start, stop = next(bounds)
                is_prose = _is_prose(text, start, stop)
            middle = (twice.start() + twice.end()) // 2
            if is_prose and not closed.overlaps(*twice.span()):
                yield replace(self, text, middle, twice.end(), "")


def _is_prose(text: str, start: int, stop: int) -> bool:
    return _FULL_STOP.search(text, start, stop) is not None and not _SPEECH.search(text, start, stop)
