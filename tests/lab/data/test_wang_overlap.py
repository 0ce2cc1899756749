"""Errors of the test sets are counted in Wang271K."""

import json

import pytest

from nmspeller.__main__ import run
from nmspeller.lab.data.datasets import DataTable
from nmspeller.lab.data.pairs import write_pairs
from nmspeller.lab.data.wang_overlap import count_leaks


@pytest.fixture
def data(tmp_path):
    """Test sets with five errors: similar, in training, in Wang's pairs, in its confusion set, and new."""
    test = [
        ("他再家", "他在家"),
        ("因此", "迪此"),
        ("习惯了", "习望了"),
        ("老师说", "老虎说"),
        ("天山上", "天牛上"),
    ]
    table = DataTable.read(tmp_path)
    sets = {name: test for name, one in table.items() if one.is_measured}
    sets |= {f"sighan{year}_train": [("老师", "老虎")] for year in (13, 14, 15)}
    sets |= {"wang": [("因为", "迪为"), ("再", "在")]}
    for name, pairs in sets.items():
        path = tmp_path / table[name].files[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_pairs(path, pairs)
    (tmp_path / "confusion").mkdir()
    (tmp_path / "confusion/wang2018.txt").write_text("望:惯忘\n", encoding="utf-8")
    return tmp_path


def test_slips_of_every_evaluation_set_are_counted(data):
    table = DataTable.read(data)
    counts = count_leaks(table)
    assert [one.name for one in counts] == list(table.measured())
    assert {one[1:] for one in counts} == {(5, 3, 1, 1)}


def test_the_command_prints_the_counts(data, capsys):
    assert run(["lab", "data", "leaks", "--data", str(data)]) == 0
    assert "sighan13" in capsys.readouterr().out
    assert run(["lab", "data", "leaks", "--data", str(data), "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["slips"] == 3
