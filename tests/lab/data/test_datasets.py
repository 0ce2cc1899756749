"""What a data folder lacks is listed: what is left out, and what sets are used without."""

from pathlib import Path

import pytest

from nmspeller.lab.data.datasets import DataSet, DataTable, Groups, describe_missing


@pytest.fixture
def table(tmp_path: Path) -> DataTable:
    """A training set of two files with its groups, and a test set with another copy of it."""
    learnt = DataSet(("a.tsv", "b.tsv"), "train", "ours", groups=Groups("groups.txt", 1))
    return DataTable(
        tmp_path, {"learnt": learnt, "test": DataSet(("c.tsv",), "test", "ours", same_text=("copy.tsv",))}
    )


def put(table: DataTable, *files: str) -> None:
    for file in files:
        (table.folder / file).touch()


def test_a_set_without_its_copy_is_used_and_listed_apart(table: DataTable) -> None:
    put(table, "a.tsv", "groups.txt", "c.tsv")
    assert list(table.measured()) == ["test"]
    assert describe_missing(table) == [
        f"not in {table.folder}, and left out:",
        "  learnt (to learn from): b.tsv",
        f"not in {table.folder}; the sets are used without these files:",
        "  test (to measure on): copy.tsv",
    ]


def test_a_set_that_is_left_out_is_listed_once_with_all_that_is_missing(table: DataTable) -> None:
    put(table, "a.tsv", "b.tsv")
    assert not table.measured()
    assert describe_missing(table) == [
        f"not in {table.folder}, and left out:",
        "  test (to measure on): c.tsv, copy.tsv",
        f"not in {table.folder}; the sets are used without these files:",
        "  learnt (to learn from): groups.txt",
    ]


def test_nothing_is_said_of_a_folder_that_lacks_nothing(table: DataTable) -> None:
    put(table, "a.tsv", "b.tsv", "groups.txt", "c.tsv", "copy.tsv")
    assert describe_missing(table) == []
