from collections import Counter
from pathlib import Path

import pytest

from nmspeller.errors import InputError
from nmspeller.knowledge import confusion
from nmspeller.knowledge.confusion import ConfusionSet
from nmspeller.lab.data.folder import data_folder


def test_a_set_leaves_out_the_character_itself_and_repetitions() -> None:
    table = ConfusionSet({"天": "田天田夫"})
    assert table["天"] == ("田", "夫")
    with pytest.raises(KeyError):
        table["地"]


def test_interleaving_takes_the_best_of_each_in_turn() -> None:
    both = ConfusionSet({"天": "甲乙丙", "地": "丁"}).interleaved(ConfusionSet({"天": "乙戊", "人": "己"}))
    assert dict(both) == {"天": ("甲", "乙", "戊", "丙"), "地": ("丁",), "人": ("己",)}


def test_our_own_set() -> None:
    table = confusion.own_set()
    assert len(table) > 7000
    assert all(len(others) == 100 for others in table.values())
    assert all(character not in others for character, others in table.items())
    assert "再" in table["在"][:5]
    assert "末" in table["未"][:20]
    assert "做" in table["作"][:20]
    assert "她" in table["他"][:10]


@pytest.mark.parametrize(("few", "many"), [(1, 10), (10, 30), (30, 100)])
def test_fewer_candidates_are_the_first_of_more(few: int, many: int) -> None:
    small, large = confusion.own_set(few), confusion.own_set(many)
    assert small.keys() == large.keys()
    assert all(large[character][:few] == others for character, others in small.items())


@pytest.mark.parametrize("separator", [":", ","])
def test_lists_are_read(tmp_path: Path, separator: str) -> None:
    file = tmp_path / "lists.txt"
    file.write_text(
        f"\ufeff天{separator}田夫\r\n\n地{separator}\n{separator}人\n天{separator}无田\n", encoding="utf-8"
    )
    assert dict(confusion.read_lists(file)) == {"天": ("田", "夫", "无"), "地": ()}


def test_the_pronunciation_table_is_read(tmp_path: Path) -> None:
    file = tmp_path / "sounds.txt"
    file.write_text("漢字\t1\t2\t3\t4\t5\n天\t添\t田\t\t厅\t夫\n", encoding="utf-8")
    assert dict(confusion.read_pronunciation(file)) == {"天": ("添", "田", "厅", "夫")}


def test_bad_lines_are_named(tmp_path: Path) -> None:
    file = tmp_path / "bad.txt"
    file.write_text("天:田\n天田\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"bad.txt, line 2"):
        confusion.read_lists(file)
    with pytest.raises(InputError, match=r"bad.txt, line 1.*6 columns"):
        confusion.read_pronunciation(file)
    with pytest.raises(InputError, match="nowhere"):
        confusion.read_lists(tmp_path / "nowhere")


def test_the_public_tables_are_read() -> None:
    try:
        folder = data_folder()
    except InputError as absent:
        pytest.skip(str(absent))
    official = folder / "sighan" / "official"
    bakeoff = official / "sighan7csc_release1.0" / "ConfusionSet"
    assert len(confusion.read_lists(folder / "confusion" / "wang2018.txt")) == 4922
    assert len(confusion.read_lists(folder / "confusion" / "sighan13_shape.txt")) > 5000
    assert len(confusion.read_pronunciation(folder / "confusion" / "sighan13_pronunciation.txt")) > 5000
    assert len(confusion.read_lists(official / "NCUEE_NLPLab_ConfusionSet.txt")) > 4700
    assert len(confusion.read_lists(bakeoff / "Bakeoff2013_CharacterSet_SimilarShape.txt")) > 5000
    assert (
        len(confusion.read_pronunciation(bakeoff / "Bakeoff2013_CharacterSet_SimilarPronunciation.txt"))
        > 5000
    )


def test_coverage_counts_errors_by_rank() -> None:
    table = ConfusionSet({"天": "田夫", "地": "他"})
    errors = Counter({("田", "天"): 5, ("夫", "天"): 2, ("人", "天"): 1, ("天", "人"): 2})
    assert confusion.coverage(errors, table, (1, 2)) == [50.0, 70.0]
    assert confusion.coverage({}, table, (1, 2)) == [0.0, 0.0]
