"""How easily one Mandarin syllable is confused with another.

The degrees follow common confusions of dialect speakers and learners: zh/z, ch/c, sh/s, n/l, f/h, r/l and the
nasals an/ang, en/eng, in/ing are the classic confusions; then aspiration (b/p, d/t …), place of articulation
(j/zh …), and finals that differ in one of their parts.
"""

from functools import cache
from typing import NamedTuple

Degrees = dict[float, str]

# "-" is the syllable without an initial.
INITIALS: Degrees = {
    0.85: "zh/z ch/c sh/s",
    0.80: "n/l",
    0.75: "f/h b/p d/t g/k j/q",
    0.70: "r/l zh/ch z/c",
    0.65: "j/zh q/ch x/sh",
    0.60: "j/z q/c x/s sh/ch s/c x/q x/j zh/c ch/z k/h g/h",
    0.55: "sh/zh s/z",
    0.50: "zh/s sh/z ch/s sh/c m/n r/n r/zh r/sh -/r",
    0.45: "l/d x/h",
    0.40: "m/b f/p f/b r/ch r/z l/t n/d d/zh d/z t/c j/g q/k -/h -/g -/j -/x",
    0.35: "m/p n/t t/ch d/g t/k d/b t/p -/n -/l -/f -/q",
    0.30: "d/j sh/f s/f h/sh -/m",
}
OTHER_INITIALS = 0.15

# "ii" is the vowel of zi and zhi, which only looks like that of ji.
FINALS: Degrees = {
    0.95: "o/uo",
    0.85: "an/ang en/eng in/ing ian/iang uan/uang",
    0.75: "ian/van in/vn ie/ve",
    0.70: "i/v ei/uei en/uen ao/iao ou/iou ong/iong",
    0.65: "eng/ong ai/ei ang/eng ou/uo a/ia a/ua an/ian an/uan ang/iang ang/uang ai/uai uai/uei uan/van "
    "uen/vn",
    0.60: "uen/ong e/uo e/o u/v an/en ou/u ou/o ii/e i/ii in/en ing/eng in/ian e/er van/vn uan/uen uang/ong "
    "uang/iang vn/iong",
    0.55: "ao/ou i/ie i/in ing/iang in/eng ing/en iou/iao iou/v ing/iong",
    0.50: "uo/u ii/v i/ei i/ing ing/ian e/en a/ai a/an ie/ei ie/ia ie/ian ia/ian ia/iao ia/iang ve/van "
    "uei/uen iang/iong ve/v ve/uo vn/v an/ai ang/ong en/ei",
    0.45: "ii/u i/ian e/a e/ei a/ao a/ang uo/ong u/ong iou/i iou/u e/ie eng/e",
    0.40: "ing/ang e/ai uei/u uei/i uei/ie ai/ie eng/ei",
    0.35: "e/ao",
}
OTHER_FINALS = 0.1
# For finals in no list above, what a shared medial, main vowel or ending adds.
SHARED_PARTS = (0.12, 0.15, 0.1)

OTHER_TONE = 0.92
NEUTRAL_TONE = 0.96

SIBILANTS_AND_RETROFLEXES = frozenset(("z", "c", "s", "zh", "ch", "sh", "r"))
PARTS_OF_FINALS = {
    "a": ("", "a", ""),
    "o": ("u", "o", ""),
    "e": ("", "e", ""),
    "ê": ("", "ê", ""),
    "i": ("i", "", ""),
    "ii": ("", "ii", ""),
    "u": ("u", "", ""),
    "v": ("v", "", ""),
    "er": ("", "e", "r"),
    "ai": ("", "a", "i"),
    "ei": ("", "ê", "i"),
    "ao": ("", "a", "u"),
    "ou": ("", "o", "u"),
    "an": ("", "a", "n"),
    "en": ("", "e", "n"),
    "ang": ("", "a", "ng"),
    "eng": ("", "e", "ng"),
    "ong": ("u", "o", "ng"),
    "ia": ("i", "a", ""),
    "ie": ("i", "ê", ""),
    "iao": ("i", "a", "u"),
    "iou": ("i", "o", "u"),
    "ian": ("i", "a", "n"),
    "in": ("i", "e", "n"),
    "iang": ("i", "a", "ng"),
    "ing": ("i", "e", "ng"),
    "iong": ("v", "o", "ng"),
    "ua": ("u", "a", ""),
    "uo": ("u", "o", ""),
    "uai": ("u", "a", "i"),
    "uei": ("u", "ê", "i"),
    "uan": ("u", "a", "n"),
    "uen": ("u", "e", "n"),
    "uang": ("u", "a", "ng"),
    "ueng": ("u", "e", "ng"),
    "van": ("v", "a", "n"),
    "ve": ("v", "ê", ""),
    "vn": ("v", "e", "n"),
}


class Syllable(NamedTuple):
    """A syllable as it is spoken: 约 yuē is ("", "ve", 1), 知 zhī ("zh", "i", 1), 吗 ma ("m", "a", 5).

    Initials are "" or consonants; finals are full forms ("iou", "uen", "v" for ü); 5 is the neutral tone.
    """

    initial: str
    final: str
    tone: int


def _pairs(degrees: Degrees) -> dict[tuple[str, str], float]:
    table = {}
    for degree, pairs in degrees.items():
        for pair in pairs.split():
            a, b = (side.replace("-", "") for side in pair.split("/"))
            table[a, b] = table[b, a] = degree
    return table


_FINAL_OF_PARTS = {parts: final for final, parts in PARTS_OF_FINALS.items() if final != "o"}
_ROUNDED = {
    final: _FINAL_OF_PARTS["u", vowel, ending]
    for final, (medial, vowel, ending) in PARTS_OF_FINALS.items()
    if medial == "" and ("u", vowel, ending) in _FINAL_OF_PARTS
}
_INITIAL_PAIRS = _pairs(INITIALS)
_FINAL_PAIRS = _pairs(FINALS)


@cache
def initial_similarity(a: str, b: str) -> float:
    """How similar two initials sound, from 0 to 1."""
    return 1.0 if a == b else _INITIAL_PAIRS.get((a, b), OTHER_INITIALS)


@cache
def final_similarity(a: str, b: str) -> float:
    """How similar two finals sound, from 0 to 1; "ii" is the vowel of zi and zhi."""
    if a == b:
        return 1.0
    if (a, b) in _FINAL_PAIRS:
        return _FINAL_PAIRS[a, b]
    shared = zip(PARTS_OF_FINALS[a], PARTS_OF_FINALS[b], SHARED_PARTS, strict=True)
    return OTHER_FINALS + sum(value for ours, theirs, value in shared if ours == theirs)


def syllable_similarity(a: Syllable, b: Syllable) -> float:
    """How similar two syllables sound, from 0 to 1; 1 is the same sound and tone."""
    return base_similarity(a, b) * tone_similarity(a.tone, b.tone)


def tone_similarity(a: int, b: int) -> float:
    """The factor by which different tones reduce the similarity of two syllables; 5 is the neutral tone."""
    if a == b:
        return 1.0
    return NEUTRAL_TONE if 5 in (a, b) else OTHER_TONE


def base_similarity(a: Syllable, b: Syllable) -> float:
    """How similar two syllables sound without their tones, from 0 to 1."""
    ours, theirs = _spoken_final(a), _spoken_final(b)
    # Speakers who pronounce f as h keep the lips rounded: 飞 fei becomes 灰 hui, 房 fang 黄 huang.
    if a.initial == "f" and b.initial == "h":
        ours = _ROUNDED.get(ours, ours)
    elif a.initial == "h" and b.initial == "f":
        theirs = _ROUNDED.get(theirs, theirs)
    return initial_similarity(a.initial, b.initial) * final_similarity(ours, theirs)


def _spoken_final(syllable: Syllable) -> str:
    buzzes = syllable.final == "i" and syllable.initial in SIBILANTS_AND_RETROFLEXES
    return "ii" if buzzes else syllable.final
