"""A grammatical character typed twice: 我的的书 → 我的书, 这是是水晶 → 这是水晶."""

from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import REPETITIONS
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Rule, RuleMatch, replace
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span
from nmspeller.text.script import simplify

# Grammatical characters that are never right twice, but for words that end or start with them (目的的, 的确);
# 了了 and 着着 often are (又了了一件心事, 着着进行), and are left out.
# A Chinese character before them: without one it may be a stutter, or a quotation of the character itself.
_GRAMMATICAL = lazy_pattern(
    f"(?<=[{HANZI}])(?:"
    "(?<![目的标標准準端有美女男飞飛打小之破])(?<![必语語箭]中|滴快)的的"
    "(?![的确確士哥姐喀卢盧款话話]|字(?![符段体體母典幕面号號数數节節])|用法|黎波|里雅|[说說](?![法话話])|方(?![法式案向面便针針]))"
    "|(?<![爷爺哥娘姐])(?:们们(?!们)|們們(?!們))"
    "|(?<![丝絲棉绒絨毛薄厚单單被植夹夾铺鋪盖蓋])被被(?![被子单單套褥告害窝窩面里罩动動迫])"
    f")(?=[{HANZI}])"
)
# Others may end a word and start the next one (但是是否, 现在在家): the dictionary says whether they do.
_DECIDABLE = lazy_pattern(f"(?<=[{HANZI}])(?P<one>[是在对對与與从從由把很给給于於向])(?P=one)(?=[{HANZI}])")
# Without one of these there is no match: most texts are passed over after a glance.
_NEEDED = lazy_pattern("([的们們被是在对對与與从從由把很给給于於向])\\1")
_AFTER_WORD = {
    "是": "不但还還要只才凡若总總可于於就倒真算为為也便而或如却卻都又老先国國像啊哦嗯一案",
    "很": "恶惡",
    "向": "方导導偏倾傾动動意趋趨走跑奔冲衝飞飛转轉",
    "由": "路",
}
# 对 is also "yes", 在在 "everywhere" and 把把 "each time": they count after these only.
_ONLY_AFTER = {
    "把": "请請要想能会會应應须須就先再将將们們我你他她它时時",
    "对": "要会应须将能并及和们",
    "對": "要會應須將能並及和們",
    "在": "们們我你他她它就都也还還会會要可能仍",
}
# 于, 向 and 从 begin names, too: 于谦, 向警予, 从化.
_BEFORE_WORD = {
    "是": "非否的枝什谁誰哪怎先",
    "很": "的地",
    "从": "容化",
    "從": "容化",
    "把": "都赢贏输輸中不方我你他她它",
    "对": "们要表账帐答口暗数剧台词时",
    "對": "們要表賬帳答口暗數劇台詞時",
    "给": "排过力",
    "給": "排過力",
    "向": "家警",
    "于": "谦右",
    "由": "国",
    "与": "之他她它其",
    "與": "之他她它其",
}
# 问题是|是先走还是先吃.
_ALTERNATIVE = lazy_pattern("[^。！？；\n]{0,20}(?:还是|還是)")
# In speech all but these may be a stutter (呃是是): they count in statements only.
_NEVER_STUTTERED = "的们們"
_SENTENCE_END = lazy_pattern("[。；！？!?…\n]")
_SPEECH = lazy_pattern('[“”「」『』"~～啊吧呢嘛哦呀哎唉呃诶嗯]|\\.\\.')
_LONGEST_SENTENCE = 100


class DoubledCharacter(Rule):
    """Deletes the second of two equal characters where no word has both."""

    id = "doubled_character"
    name = N_("Doubled character")
    explanation = N_("The same character was typed twice.")
    category = REPETITIONS
    group = Group.SPELLING
    is_precise = True
    example = Example("这是我妹妹的的自行车。", "这是我妹妹的自行车。")

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        if not _NEEDED.search(text):
            return
        closed = Closed(protected)
        pairs = [pair.span() for pair in _GRAMMATICAL.finditer(text)]
        pairs += (
            pair.span() for pair in _DECIDABLE.finditer(text) if not _is_of_two_words(text, pair.start())
        )
        for start, stop in sorted(pairs):
            is_certain = text[start] in _NEVER_STUTTERED or _is_in_statement(text, start)
            if is_certain and not closed.overlaps(start, stop):
                yield replace(self, text, stop - 1, stop, "")


def _is_of_two_words(text: str, place: int) -> bool:
    """Whether one of the two equal characters at `place` belongs to the word before them, or after them."""
    one, before, after = text[place], text[place - 1], text[place + 2]
    if one in (before, after) or before in _AFTER_WORD.get(one, "") or after in _BEFORE_WORD.get(one, ""):
        return True
    if before not in _ONLY_AFTER.get(one, before):
        return True
    if one == "是" and _ALTERNATIVE.match(text, place + 2):
        return True
    known = words()
    around = simplify(text[max(0, place - 3) : place + 5]).text
    at = place - max(0, place - 3)
    if {around[at - 1 : at + 1], around[at + 1 : at + 3]} & known.short_words:
        return True
    return around[max(0, at - 3) : at + 1] in known.long_words or around[at + 1 : at + 5] in known.long_words


def _is_in_statement(text: str, place: int) -> bool:
    """Whether the sentence around `place` ends with a full stop and has nothing of speech."""
    end = _SENTENCE_END.search(text, place, place + _LONGEST_SENTENCE)
    if end is None or end[0] not in "。；":
        return False
    *_, before = _SENTENCE_END.split(text[max(0, place - _LONGEST_SENTENCE) : place])
    return not _SPEECH.search(before + text[place : end.start()])
