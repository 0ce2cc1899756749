"""A grammatical character typed twice: 我的的书 → 我的书."""

import re
from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import RuleMatch, replace
from nmspeller.text.hanzi import HANZI
from nmspeller.text.protect import Span

# Grammatical characters that are never right twice, but for words that end or start with them (目的的, 的确).
# A Chinese character before them: without one it may be a stutter, or a quotation of the character itself.
_GRAMMATICAL = re.compile(
    f"(?<=[{HANZI}])(?:"
    "(?<![目的标標准準端有美女男])(?<![必语語]中)的的(?![的确確士哥喀卢盧款话話])"
    "|(?<![不得为為没沒完未终終除明罢罷算了次个個天年时時无無])了了(?![了解却卻结結断斷悟然如不得望事无無])"
    "|(?<![着著执執穿衣沉])(?:着着|著著)(?![着著慌忙恼惱眼陆陸手急凉力重实實逼臭装裝落棋先想魔火迷色地笔筆称稱作名])"
    "|们们(?!们)|們們(?!們)"
    "|(?<![丝絲棉绒絨毛薄厚单單被])被被(?![被子单單套褥])"
    f")(?=[{HANZI}])"
)


class DoubledCharacter:
    """Deletes the second of two equal characters where no word has both."""

    id = "doubled_character"
    name = N_("Doubled character")
    explanation = N_("The same character was typed twice.")
    on_by_default = True

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        closed = Closed(protected)
        for pair in _GRAMMATICAL.finditer(text):
            if not closed.overlaps(*pair.span()):
                yield replace(self, text, pair.end() - 1, pair.end(), "")
