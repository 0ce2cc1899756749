"""Which character is written for which by mistake, judged for a pair at a time."""

from functools import lru_cache

from nmspeller.text.hanzi import is_hanzi
from nmspeller.text.script import Script, simplify

_SAME_SOUND = 0.96
_OTHER_TONE = 0.9
_SAME_PART = 0.45
_SHARED_PART = 0.3
_SIMILAR_SHAPE = 0.7
_LAST_OF_FIRST_LEVEL = b"\xd7\xf9"
# Two ways to write one word rather than a mistake: 振振有辞, 绰绰有馀, 追根究柢.
_VARIANTS = (
    "词辞 余馀 复覆 利俐 巨钜 着著 于於 象像 才材 账帐 唯惟 维惟 连联 飘漂 份分 一壹 只止 轻青 底柢 "
    "妳你 它他 她他 哪那 做作 毋勿 决绝 托讬 纪记 须需 像相 见现 蹋塌 踏塌"
)
_VARIANT_PAIRS = frozenset(map(frozenset, _VARIANTS.split()))
# Characters so common, in texts of today or of old, that they stand anywhere by chance.
_GRAMMATICAL = frozenset("的地得他她它们妳您了着过也都还不没无在是有我你这那和与会能要就被把吾汝尔矣焉哉乎太")


@lru_cache(maxsize=65536)
def is_confusable(written: str, meant: str) -> bool:
    """Whether an ear or an eye may take one character for the other."""
    if not is_hanzi(written) or written in _GRAMMATICAL or frozenset((written, meant)) in _VARIANT_PAIRS:
        return False
    sound, likeness = _likeness(written, meant)
    is_alike = (
        sound >= _SAME_SOUND
        or likeness >= _SIMILAR_SHAPE
        or (sound >= _OTHER_TONE and likeness >= _SAME_PART)
    )
    # An old or Traditional form of the same character is no other character.
    return is_alike and simplify(written, Script.TRADITIONAL).text != meant


@lru_cache(maxsize=65536)
def is_sure_slip(written: str, meant: str) -> bool:
    """Whether the eye alone, or ear and eye together, explain a common character in another's place.

    What only the ear explains is as often a play upon words (有求币应), or old Chinese.
    """
    sound, likeness = _likeness(written, meant)
    looks_alike = likeness >= _SIMILAR_SHAPE or (sound >= _OTHER_TONE and likeness >= _SHARED_PART)
    return looks_alike and _is_common(written)


def _likeness(written: str, meant: str) -> tuple[float, float]:
    """How alike two characters sound and look, each from 0 to 1."""
    # Loaded with the first doubt: most texts raise none.
    from nmspeller.knowledge import pinyin, shape

    return float(pinyin.similarity_matrix(written, meant)[0, 0]), shape.similarity(written, meant)


def _is_common(character: str) -> bool:
    """Whether it is of the first level of GB 2312; what is not is mostly an old form, and rarely typed."""
    try:
        return character.encode("gb2312") <= _LAST_OF_FIRST_LEVEL
    except UnicodeEncodeError:
        return False
