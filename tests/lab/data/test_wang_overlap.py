"""Errors of the test sets are counted in Wang271K; the page is written from the counts."""

import json
from pathlib import Path

import pytest

from nmspeller.__main__ import run
from nmspeller.errors import InputError
from nmspeller.lab.data import wang_overlap
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.data.pairs import write_pairs
from nmspeller.lab.evaluation import leak_page

RESULTS = Path(__file__).parents[3] / "docs" / "results"


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
    for path in wang_overlap.TEST_SETS.values():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        write_pairs(tmp_path / path, test)
    for path in wang_overlap.TRAINING_SETS:
        write_pairs(tmp_path / path, [("老师", "老虎")])
    for path in (wang_overlap.WANG_PAIRS, wang_overlap.WANG_CONFUSION):
        (tmp_path / path).parent.mkdir()
    write_pairs(tmp_path / wang_overlap.WANG_PAIRS, [("因为", "迪为"), ("再", "在")])
    (tmp_path / wang_overlap.WANG_CONFUSION).write_text("望:惯忘\n", encoding="utf-8")
    return tmp_path


def test_slips_are_counted(data):
    counts = wang_overlap.count_leaks(data)
    assert [one.name for one in counts] == list(wang_overlap.TEST_SETS)
    assert {one[1:] for one in counts} == {(5, 3, 1, 1)}


def test_the_command_writes_the_page_and_its_counts(data, tmp_path, capsys):
    assert run(["lab", "data", "leaks", "--data", str(data), "--out", str(tmp_path / "leak.md")]) == 0
    assert "| SIGHAN13 | 5 | 3 | 1 (33 %) | 1 (50 %) |" in (tmp_path / "leak.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "leak.json").read_text(encoding="utf-8"))[0]["slips"] == 3


def test_the_page_in_the_docs_is_written_from_its_counts():
    counts = leak_page.read_counts(RESULTS / "leak.json")
    assert (RESULTS / "leak.md").read_text(encoding="utf-8") == leak_page.leak_page(counts)


def test_the_counts_in_the_docs_are_those_of_the_data():
    try:
        folder = data_folder()
    except InputError as absent:
        pytest.skip(str(absent))
    assert wang_overlap.count_leaks(folder) == leak_page.read_counts(RESULTS / "leak.json")
