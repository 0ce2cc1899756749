"""Names and terms, which users of spell checkers complain about most: do they survive?"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from nmspeller import Speller
from nmspeller.runtime.correction import Correction

NAMES = Path(__file__).parents[1] / "assets" / "names.tsv"
ROWS = [tuple(line.split("\t")) for line in NAMES.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def speller() -> Speller:
    return Speller(threads=1)  # tests run side by side


def edited(corrections: Sequence[Correction], names: Sequence[str]) -> list[str]:
    """The names that an edit touches."""
    return [
        name
        for correction, name in zip(corrections, names, strict=True)
        for start in [correction.source.index(name)]
        if any(
            edit.offset < start + len(name) and start < edit.offset + edit.length for edit in correction.edits
        )
    ]


def test_the_set_is_sound() -> None:
    assert len(ROWS) >= 300
    assert all(len(row) == 2 for row in ROWS)
    assert len({sentence for sentence, _ in ROWS}) == len({name for _, name in ROWS}) == len(ROWS)
    assert all(sentence.count(name) == 1 and len(sentence) >= 10 for sentence, name in ROWS)


@pytest.mark.parametrize("level", ["careful", "balanced"])
def test_nearly_all_names_survive_without_a_list(speller: Speller, level: str) -> None:
    sentences, names = zip(*ROWS, strict=True)
    lost = edited(speller.check_many(sentences, level=level), names)
    assert len(lost) <= 0.005 * len(names), lost


def test_slang_stays_but_a_user_may_replace_it(speller: Speller) -> None:
    text = "这场演出真的泰裤辣，连歪果仁都说好！"
    assert not speller.check(text, level="thorough").edits
    replaced = speller.check(text, replacements={"歪果仁": "外国人"})
    assert replaced.text == "这场演出真的泰裤辣，连外国人都说好！"


def test_no_listed_name_is_edited(speller: Speller) -> None:
    sentences, names = zip(*ROWS[::3], strict=True)
    assert not edited(speller.check_many(sentences, level="thorough", words=names), names)


def test_no_name_is_edited_among_a_hundred_thousand(tmp_path: Path) -> None:
    sentences, names = zip(*ROWS[1::3], strict=True)
    others = [f"{chr(0x4E00 + each % 20_000)}甲{chr(0x4E00 + each // 20_000)}" for each in range(100_000)]
    words = tmp_path / "words.txt"
    words.write_text("\n".join([*others[:50_000], *names, *others[50_000:]]) + "\n", "utf-8")
    *found, plain_mistake = Speller(words=words, threads=1).check_many(
        [*sentences, "我门明天一起去学校。"], level="thorough"
    )
    assert not edited(found, names)
    assert plain_mistake.text == "我们明天一起去学校。", "the list protects what is not in it"
