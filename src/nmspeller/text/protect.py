"""What a speller must leave alone: code, mathematics, addresses, names, numbers, Latin words, own words.

Every pattern is found in time that grows linearly with the text, whatever the text: a repetition is
bounded, or ends before the sign it would start at again.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from nmspeller.text import markup, words
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
# What an address is made of in ASCII; a full stop or a bracket at its end belongs to the sentence.
ASCII_ADDRESS = r"[!#-;=?-_a-z~]*[#$%&*+\-/0-9=@A-Z_a-z~]"
CHINESE_DOMAINS = "中国|中國|公司|网络|網絡|网址|网站|网店|中文网|政务|公益|商城|集团|在线|香港|台湾|台灣"
HOST_PART = r"(?:[A-Za-z0-9-]{1,63}|[一-鿿][一-鿿A-Za-z0-9-]{0,62})"
HOST = rf"(?:{HOST_PART}\.){{1,8}}(?:{CHINESE_DOMAINS}|(?=[A-Za-z0-9]))"
# Behind a letter or a digit hanzi are mostly the sentence; these are what no sentence goes on with.
SUFFIX_OR_FIELD = r"(?:\.[a-z][a-z0-9]{1,4}(?![A-Za-z0-9])|[?&][A-Za-z_]{1,20}=)"
PATTERN = re.compile(
    rf"(?P<url>(?:(?i:https?|ftp)://|(?i:www)\.)(?:{HOST}(?:{ASCII_ADDRESS})?|{ASCII_ADDRESS})"
    # Hanzi belong to an address inside it, and at its end where a blank or a closing sign follows them; what
    # else follows one without a blank is mostly the sentence.
    rf"(?:(?:(?<=[/=?&#_+-])[一-鿿]{{1,40}}(?:_\([一-鿿]{{1,40}}\)|[/?=&#_+%-]|\.(?=[A-Za-z0-9]))"
    rf"|(?<=[/=?&#_+\-A-Za-z0-9])[一-鿿][一-鿿0-9/_-]{{0,39}}{SUFFIX_OR_FIELD})(?:{ASCII_ADDRESS})?)*"
    r"(?:(?<=[/=?&#_+-])[一-鿿]{1,40}(?=[\s)\]>\"'”’）】」』》]|$))?)"
    r"|(?P<email>[A-Za-z0-9][A-Za-z0-9.!#$%&'*+/=?^_{|}~-]{0,63}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)"
    r"|(?P<mention>(?<![A-Za-z0-9])[@＠][\w-]{1,30})"
    r"|(?P<tag>(?<![A-Za-z0-9#])#(?!\s)[^#\n]{1,100}(?<!\s)#)"
    rf"|(?P<number>[$¥￥€£]?\d+(?:[.,:/~·．，：-]\d+)*{UNITS}?)"
    rf"|(?P<latin>[{LATIN}][{LATIN}0-9]*(?:['’._&/-][{LATIN}0-9]+)*[+#]*)"
)
# PATTERN starts with one of these; looking for them first is several times faster in Chinese text.
FIRST = re.compile(rf"[{LATIN}\d@＠#$¥￥€£]")
# Keeps the text's length, and is part of no pattern.
BLANK = "\ufffc"


class Span(NamedTuple):
    """text[start:stop] must not be changed, because of what `kind` names."""

    start: int
    stop: int
    kind: str


class WordMatcher(words.WordMatcher):
    """The user's own words, which are right whatever a model says."""

    @cached_property
    def folded(self) -> "WordMatcher":
        """The same for a folded text, see `script.fold`."""
        folded = tuple(map(fold, self.words))
        return self if folded == self.words else WordMatcher(folded)

    def spans(self, text: str) -> list[Span]:
        """Every stretch of the text that the words cover, in order and disjoint."""
        return [Span(start, stop, "word") for start, stop in self.ranges(text)]


def protected_spans(text: str) -> list[Span]:
    """All that must not be changed, in order and disjoint.

    Kinds are "code", "math", "url", "email", "mention", "tag", "number" and "latin".
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
    pieces: list[str] = []
    end = 0
    for start, stop, _ in spans:
        pieces += (text[end:start], BLANK * (stop - start))
        end = stop
    return "".join((*pieces, text[end:]))


def _disjoint(spans: list[Span]) -> list[Span]:
    """The same stretches of text, in order; where spans overlap, the one that starts first is cut last."""
    disjoint: list[Span] = []
    end = 0
    for start, stop, kind in sorted(spans, key=lambda span: (span.start, -span.stop)):
        if stop > end:
            disjoint.append(Span(max(start, end), stop, kind))
            end = stop
    return disjoint
