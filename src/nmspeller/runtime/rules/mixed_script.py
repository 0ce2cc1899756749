"""Characters of the other script, and Traditional words that a conversion has spoilt: 頭发, 皇後."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from nmspeller.messages import N_
from nmspeller.runtime.rules import word_lists
from nmspeller.runtime.rules.categories import CONSISTENCY
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.faces import simplified
from nmspeller.runtime.rules.rule import Example, Group, Note, Rule, RuleMatch, replace
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span
from nmspeller.text.script import Script, detect
from nmspeller.text.windows import lines, sentences
from nmspeller.text.words import WordMatcher

# Characters of both scripts that Simplified text has in other words only, and words that it never has: these
# are odd even in a sentence without any other character of either script.
_SIMPLIFIED_WORDS = dict(
    pair.split("/")
    for pair in [
        "乾净/干净",
        "乾燥/干燥",
        "乾脆/干脆",
        "饼乾/饼干",
        "乾旱/干旱",
        "乾杯/干杯",
        "瞭解/了解",
        "明瞭/明了",
        "随著/随着",
        "看著/看着",
        "姓範/姓范",
        "皇後/皇后",
        "太後/太后",
        "頭发/头发",
        "头髮/头发",
        "理髮/理发",
    ]
)
# 看著书 is 看着书.
_NO_WORDS = frozenset(("著书",))
_OTHER = {Script.SIMPLIFIED: Script.TRADITIONAL, Script.TRADITIONAL: Script.SIMPLIFIED}
_NOTES = {
    Script.SIMPLIFIED: N_("The text is in Simplified characters, and this is a Traditional one."),
    Script.TRADITIONAL: N_("The text is in Traditional characters, and this is a Simplified one."),
}
# Characters that Simplified text keeps in names, old words and transcriptions.
_KEPT = frozenset("於朮拚蒐徵湊岡鍾閒甯昇崑谿煇堃陞濬鑫瞭乾馀彿塚篠霑蘋頫巖吒菴甕蒼楓")
# The last common character of Big5. Rarer ones stand in names, and have often no Simplified form in print.
_LAST_COMMON = b"\xc6\x7e"
# Names and titles may be quoted in the other script.
_MOST_IN_SENTENCE = 2
_QUOTED = lazy_pattern("[《〈「『“（(][^》〉」』”）)\n]{0,40}\\Z")


class MixedScript(Rule):
    """Hints at single characters of the script that the text is not written in."""

    id = "mixed_script"
    name = N_("Simplified and Traditional mixed")
    explanation = N_("This character does not belong to the script of the text.")
    category = CONSISTENCY
    group = Group.SPELLING
    is_precise = False
    example = Example("她的頭发很長，還沒有洗。", None)

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        script = detect(text)
        if script is Script.NEUTRAL:
            return
        closed = Closed(protected)
        end = 0
        found = sorted([*_odd_words(text, script), *_odd_characters(text, script)])
        for start, stop, note in found:
            if start >= end and not closed.overlaps(start, stop):
                yield replace(self, text, start, stop, None, note)
                end = stop


def _odd_characters(text: str, script: Script) -> Iterator[tuple[int, int, Note]]:
    """Single characters of the other script, in sentences of the text's own."""
    odd = "".join(character for character in set(text) if _is_odd(character, script))
    if not odd:
        return
    pattern = re.compile(f"[{re.escape(odd)}]+")
    for line_start, line_stop in lines(text):
        if not pattern.search(text, line_start, line_stop):
            continue
        line = text[line_start:line_stop]
        for start, stop in sentences(line):
            found = list(pattern.finditer(line, start, stop))
            if 0 < len(found) <= _MOST_IN_SENTENCE and detect(line[start:stop]) is script:
                for match in found:
                    is_quoted = _QUOTED.search(line, max(start, match.start() - 40), match.start())
                    if len(match[0]) <= _MOST_IN_SENTENCE and not is_quoted:
                        yield line_start + match.start(), line_start + match.end(), Note(_NOTES[script])


def _is_odd(character: str, script: Script) -> bool:
    if detect(character) is not _OTHER[script] or character in _KEPT:
        return False
    return script is Script.TRADITIONAL or b"" < character.encode("big5", "ignore") <= _LAST_COMMON


def _odd_words(text: str, script: Script) -> Iterator[tuple[int, int, Note]]:
    right, known = _right_words()[script], words().short_words
    for start, stop in _matchers()[script].matches(text):
        # Two words may meet in it: 姓|範圍, 看|著作.
        face = simplified(text).text
        across = {face[max(0, start - 1) : start + 1], face[stop - 1 : stop + 1]}
        if known.isdisjoint(across - _NO_WORDS):
            yield start, stop, _written(right[text[start:stop]])


def _written(form: str) -> Note:
    return Note(N_("In the script of this text it is written {form}."), (("form", form),))


@cache
def _right_words() -> dict[Script, dict[str, str]]:
    return {Script.SIMPLIFIED: _SIMPLIFIED_WORDS, Script.TRADITIONAL: word_lists.read("overconverted.txt")}


@cache
def _matchers() -> dict[Script, WordMatcher]:
    return {script: WordMatcher(right) for script, right in _right_words().items()}
