"""Correct sentences that no training saw: news, articles and essays of the held-out part of the corpus.

    python benchmarks/clean_text.py PREPARED OUT

PREPARED is what `nmspeller lab data prepare` wrote. Writes OUT/clean0.txt, on which `lab calibrate --clean`
chooses thresholds, and OUT/clean1.txt, on which `benchmarks/accuracy.py --clean` measures. The corpus has no
labels, so a paragraph counts as such prose by its look alone: at least 100 characters, nothing but Chinese
characters, digits and full-width marks, no speech and none of the words that only speech has, but at least
two of those that news, articles and essays are made of. Without the last, a quarter was mostly fiction, much
of it in the Chinese of earlier centuries. Essays in classical Chinese, which know such words, too, are told
by its particles.

The pairs on which thresholds are chosen are written as well: OUT/native_dev.tsv, errors of native writers for
`lab calibrate`, and OUT/dev.tsv, the dev pairs of all sets, for `lab calibrate --prefilter`.

No corpus is free of mistakes. Sentences that were read by a person and have one are listed, as hashes, in
benchmarks/mistakes_in_corpus.txt; they are left out of clean0.txt, and accuracy.py counts them apart.
"""

import argparse
import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from nmspeller.lab.data.corpus import LINE_END
from nmspeller.lab.data.prepared import Prepared

MISTAKES = Path(__file__).with_name("mistakes_in_corpus.txt")

_LEAST_CHARACTERS = 100
# Without 〇, unlike text/hanzi.py: two more paragraphs would reshuffle both halves, and mix the sentences
# that the shipped thresholds were chosen on with those that measure them.
_PROSE = re.compile(r"[\u4e00-\u9fff，。；：、！？（）《》—…％０-９0-9.·]+[。！？]")
_SPEECH = re.compile("[你您妳哦呢啊吧吗嘛呀咯俺咱]")
_SENTENCE = re.compile(r"[^。！？]+[。！？]+）*")
_MODERN = re.compile(
    "记者|新华社|本报|报道|经济|社会|政治|文化|科学|技术|科技|教育|历史|国家|政府|政策|企业|公司|工厂|工业|农业|市场|产品|"
    "工作|发展|建设|改革|组织|部门|单位|代表|会议|研究|理论|系统|信息|数据|网络|电影|电视|电话|汽车|飞机|学校|大学|学生|"
    "老师|教师|同学|医院|医生|患者|城市|农村|农民|工人|运动|比赛|世界|国际|中国|美国|日本|人民|群众|生活|问题|情况|方面|"
    "条件|关系|标准|计划|项目|管理|服务|资源|环境|能源|投资|贸易|银行|法律|警方|妈妈|爸爸|孩子|作文|作品|作家|艺术|年代|世纪"
)
_LEAST_MODERN_WORDS = 2
_CLASSICAL = re.compile("[之其者也乃则矣焉乎哉亦皆此]")
_DEV_SETS = (
    "sighan13_train", "sighan14_train", "sighan15_train", "ecspell_law_train", "ecspell_med_train",
    "ecspell_odw_train", "native", "revisions", "revisions2", "lang8", "learners", "hard", "medical",
    "queries",
)  # fmt: skip
_MOST_CLASSICAL = 1 / 12  # of the characters; the paragraphs of this corpus have up to 1/15 or from 1/11 on


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("prepared", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    prepared = Prepared(options.prepared)
    found = sentences(prepared)
    options.out.mkdir(parents=True, exist_ok=True)
    halves = [sentence for sentence in found[0] if not has_mistake(sentence)], found[1]
    for number, half in enumerate(halves):
        _write(options.out / f"clean{number}.txt", half)
    for name, sets in (("native_dev", ["native", "revisions", "revisions2"]), ("dev", _DEV_SETS)):
        pairs = [pair for each in sets for pair in prepared.pair_texts(f"{each}_dev")]
        _write(options.out / f"{name}.tsv", ["\t".join(pair) for pair in pairs])


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    print(path, len(lines))


def sentences(prepared: Prepared) -> tuple[list[str], list[str]]:
    """Two halves of the sentences of 12 to 100 characters of such prose, always in the same order."""
    modern: dict[str, bool] = {}
    for paragraph in paragraphs(prepared):
        if _PROSE.fullmatch(paragraph) and not _SPEECH.search(paragraph):
            is_modern = _is_modern(paragraph)
            for sentence in _SENTENCE.findall(paragraph):
                if 12 <= len(sentence) <= 100:
                    modern[sentence] = modern.get(sentence, False) or is_modern
    # Halved before the old prose is left out, so that a sentence never changes sides with the list of words.
    found = random.Random(0).sample(sorted(modern), len(modern))
    first, second = ([sentence for sentence in found[half::2] if modern[sentence]] for half in (0, 1))
    return first, second


def _is_modern(paragraph: str) -> bool:
    return len(set(_MODERN.findall(paragraph))) >= _LEAST_MODERN_WORDS and len(
        _CLASSICAL.findall(paragraph)
    ) <= _MOST_CLASSICAL * len(paragraph)


def paragraphs(prepared: Prepared) -> Iterator[str]:
    """The held-out paragraphs that are long enough and have no unknown character."""
    ids, tokens = prepared.corpus("heldout"), prepared.vocabulary.tokens
    for paragraph in np.split(ids, np.flatnonzero(ids == LINE_END)):
        paragraph = paragraph[paragraph != LINE_END]
        if len(paragraph) >= _LEAST_CHARACTERS and prepared.vocabulary.unk not in paragraph:
            yield "".join(tokens[number] for number in paragraph)


def has_mistake(sentence: str) -> bool:
    """Whether a person has found a mistake in this sentence."""
    return _digest(sentence) in _known_mistakes()


@cache
def _known_mistakes() -> frozenset[str]:
    return frozenset(MISTAKES.read_text("utf-8").split())


def _digest(sentence: str) -> str:
    return hashlib.sha256(sentence.encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
