"""The counts of the paper's appendix, from the files and from the command line."""

import json

import pytest

from nmspeller.__main__ import run
from nmspeller.errors import InputError
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.data.pairs import write_pairs
from nmspeller.lab.data.stats import count_folder

# Lines, mean length and errors as the appendix prints them. It says 2,338, 31.3 and 3,037 of SIGHAN15's
# training set, of which the files here hold one line more.
APPENDIX = {
    "train13": (700, "41.8", 343),
    "train14": (3437, "49.6", 5122),
    "test13": (1000, "74.3", 1224),
    "test14": (1062, "50.0", 771),
    "test15": (1100, "30.6", 703),
}


def test_the_paper_s_sets_count_as_in_its_appendix():
    try:
        folder = data_folder() / "sighan" / "simplified"
    except InputError as absent:
        pytest.skip(str(absent))
    found = {one.name: (one.lines, f"{one.mean_length:.1f}", one.errors) for one in count_folder(folder)}
    assert list(found) == ["train13", "train14", "train15", "test13", "test14", "test15"]
    assert {name: found[name] for name in APPENDIX} == APPENDIX


@pytest.fixture
def folder(tmp_path):
    write_pairs(tmp_path / "train.tsv", [("他再家", "他在家"), ("好", "好"), ("在在", "再再")])
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "test.tsv").write_text("好\t好\n坏\n", encoding="utf-8")
    return tmp_path


def test_a_folder_is_counted_with_what_was_skipped(folder):
    assert count_folder(folder) == [("train", 3, 2.0, 3, 2, 0), ("more/test", 1, 1.0, 0, 0, 1)]
    assert count_folder(folder / "train.tsv") == [("train", 3, 2.0, 3, 2, 0)]


def test_the_command_prints_a_table_or_json(folder, capsys):
    assert run(["lab", "data", "stats", str(folder)]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()][1:] == [
        ["train", "3", "2.0", "3", "2", "0"],
        ["more/test", "1", "1.0", "0", "0", "1"],
    ]
    assert run(["lab", "data", "stats", str(folder), "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["sets"][0] == {
        "name": "train",
        "lines": 3,
        "mean_length": 2.0,
        "errors": 3,
        "erroneous": 2,
        "skipped": 0,
    }


def test_a_folder_without_sets_is_an_error(tmp_path, capsys):
    assert run(["lab", "data", "stats", str(tmp_path / "absent")]) == 2
    assert "no TSV files" in capsys.readouterr().err
