"""What must not be corrected: code, mathematics, addresses, mentions, numbers, Latin words, the user's words.

Matching takes time linear in the length of any text: every repetition is bounded, or ends before the
character at which it could start again.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from nmspeller.text import markup, words
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.script import fold

LATIN = "A-Za-zÀ-ÖØ-öø-ɏＡ-Ｚａ-ｚ"
UNITS = (
    "(?:[十百千万亿萬億兆]*(?:"
    "平方公里|平方千米|平方米|平方厘米|立方米|立方厘米|摄氏度|攝氏度|华氏度|華氏度|"
    "公里|千米|分米|厘米|毫米|微米|纳米|海里|英里|英尺|英寸|公分|公尺|"
    "公斤|千克|毫克|微克|公顷|公頃|毫升|公升|千瓦时|千瓦時|千瓦|兆瓦|千伏|毫安|赫兹|赫茲|"
    "美元|欧元|歐元|英镑|英鎊|日元|日圆|日圓|港元|港币|港幣|台币|台幣|人民币|人民幣|"
    "小时|小時|分钟|分鐘|秒钟|秒鐘|毫秒|微秒|世纪|世紀|年代|周岁|周歲|"
    "[元角分年月日号號时時秒岁歲米克吨噸斤两兩升亩畝瓦伏度倍])|[十百千万亿萬億兆]+|"
    f"[ \u00a0]?[{LATIN}µμΩ°℃℉%％‰㎏㎡㎞㎜㎝][{LATIN}0-9%/²³·°]{{0,11}})"
)
# The ASCII characters of an address; a full stop or a bracket at its end belongs to the sentence.
ASCII_ADDRESS = r"[!#-;=?-_a-z~]*[#$%&*+\-/0-9=@A-Z_a-z~]"
CHINESE_DOMAINS = "中国|中國|公司|网络|網絡|网址|网站|网店|中文网|政务|公益|商城|集团|在线|香港|台湾|台灣"
HOST_PART = rf"(?:[A-Za-z0-9-]{{1,63}}|[{HANZI}][{HANZI}A-Za-z0-9-]{{0,62}})"
HOST = rf"(?:{HOST_PART}\.){{1,8}}(?:{CHINESE_DOMAINS}|(?=[A-Za-z0-9]))"
# Hanzi after a letter or a digit usually belong to the sentence, unless one of these follows them.
SUFFIX_OR_FIELD = r"(?:\.[a-z][a-z0-9]{1,4}(?![A-Za-z0-9])|[?&][A-Za-z_]{1,20}=)"
# Numerals of cheques and contracts, which a model would write as 一二三. They count as an amount with a unit
# of ten or more, before a unit of money, time or papers, or in threes: 陆 alone is a name, 陆陆续续 a word.
DIGITS = "零〇壹贰貳弍叁叄參参肆伍陆陸柒捌玖"
TENS = "拾佰仟万萬亿億兆"
AMOUNT = (
    f"(?=[零〇万萬亿億兆]{{0,20}}[壹贰貳弍叁叄參参肆伍陆陸柒捌玖拾佰仟])"
    f"(?:[{DIGITS}]+[{TENS}][{DIGITS}{TENS}]*|[{TENS}][{DIGITS}{TENS}]+|[{DIGITS}]{{3,}}|"
    f"[{DIGITS}{TENS}]+(?=[元圆圓角分年月日号號期式份张張套件台臺]))"
    f"(?:[元圆圓角分块塊][{DIGITS}{TENS}]*){{0,4}}[整正]?"
)
PATTERN = lazy_pattern(
    rf"(?P<url>(?:(?i:https?|ftp)://|(?i:www)\.)(?:{HOST}(?:{ASCII_ADDRESS})?|{ASCII_ADDRESS})"
    # Hanzi inside an address belong to it, and so do those at its end if a blank or a closing mark follows;
    # other hanzi right after an address usually belong to the sentence.
    rf"(?:(?:(?<=[/=?&#_+-])[{HANZI}]{{1,40}}(?:_\([{HANZI}]{{1,40}}\)|[/?=&#_+%-]|\.(?=[A-Za-z0-9]))"
    rf"|(?<=[/=?&#_+\-A-Za-z0-9])[{HANZI}][{HANZI}0-9/_-]{{0,39}}{SUFFIX_OR_FIELD})(?:{ASCII_ADDRESS})?)*"
    rf"(?:(?<=[/=?&#_+-])[{HANZI}]{{1,40}}(?=[\s)\]>\"'”’）】」』》]|$))?)"
    r"|(?P<email>[A-Za-z0-9][A-Za-z0-9.!#$%&'*+/=?^_{|}~-]{0,63}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)"
    # A name ends at a blank or a colon. Where none follows, the sentence may, and most names are short.
    r"|(?P<mention>(?<![A-Za-z0-9])[@＠](?:[\w-]{1,30}(?=[\s:：])|[A-Za-z0-9_-]{1,30}|[\w-]{1,4}))"
    # #话题#, but not what stands between two numbers: #12 and #13.
    r"|(?P<tag>(?<![A-Za-z0-9#])#(?!\s)[^#\n]{1,100}(?<!\s)#(?!\d))"
    rf"|(?P<number>[$¥￥€£]?\d+(?:[.,:/~·．，：-]\d+)*{UNITS}?)"
    rf"|(?P<amount>{AMOUNT})"
    rf"|(?P<latin>[{LATIN}][{LATIN}0-9]*(?:['’._&/-][{LATIN}0-9]+)*[+#]*)"
)
# Every match of PATTERN starts with one of these; searching for them first is several times faster.
FIRST = lazy_pattern(rf"[{LATIN}\d@＠#$¥￥€£{DIGITS}{TENS}]")
# Replaces protected characters one by one; no pattern matches it.
BLANK = "\ufffc"


class Span(NamedTuple):
    """text[start:stop] must not be changed; `kind` is the reason."""

    start: int
    stop: int
    kind: str


class ProtectedWords(words.WordMatcher):
    """The user's own words, which are never corrected."""

    @cached_property
    def folded(self) -> "ProtectedWords":
        """The same for a folded text, see `script.fold`."""
        folded = tuple(map(fold, self.words))
        return self if folded == self.words else ProtectedWords(folded)

    def spans(self, text: str) -> list[Span]:
        """The spans of the text that the words cover, in order and disjoint."""
        return [Span(start, stop, "word") for start, stop in self.ranges(text)]


def protected_spans(text: str) -> list[Span]:
    """The spans that must not be changed, in order and disjoint.

    Kinds are "code", "math", "url", "email", "mention", "tag", "number", "amount" and "latin".
    """
    spans: list[Span] = []
    visible = text
    for kind, find in (("code", markup.fences), ("code", markup.code_spans), ("math", markup.math)):
        found = [Span(start, stop, kind) for start, stop in find(visible)]
        if found:
            visible = _blank_out(visible, found)
            spans += found
    spans += _patterns(visible)
    return _disjoint(spans)


def _patterns(text: str) -> Iterator[Span]:
    position = 0
    while first := FIRST.search(text, position):
        if match := PATTERN.match(text, first.start()):
            yield Span(*match.span(), match.lastgroup or "")
            position = match.end()
        else:
            position = first.end()


def _blank_out(text: str, spans: Iterable[Span]) -> str:
    output: list[str] = []
    end = 0
    for start, stop, _ in spans:
        output += (text[end:start], BLANK * (stop - start))
        end = stop
    return "".join((*output, text[end:]))


def _disjoint(spans: list[Span]) -> list[Span]:
    """The same text in spans that are in order and do not overlap; the earlier of two keeps the overlap."""
    disjoint: list[Span] = []
    end = 0
    for start, stop, kind in sorted(spans, key=lambda span: (span.start, -span.stop)):
        if stop > end:
            disjoint.append(Span(max(start, end), stop, kind))
            end = stop
    return disjoint
