"""The page on errors that Wang271K shares with the test sets."""

import pytest

import leak
from nmspeller.errors import InputError
from nmspeller.lab.data.datasets import DataTable
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.data.wang_overlap import LeakCounts, count_leaks
from page import PAGES


def test_shares_are_of_the_slips_and_of_the_rest():
    page = leak.leak_page([LeakCounts("some", 5, 3, 1, 1)])
    assert "| some | 5 | 3 | 1 (33 %) | 1 (50 %) |" in page


def test_the_page_in_the_docs_is_written_from_its_counts():
    assert (PAGES / "leak.md").read_text(encoding="utf-8") == leak.leak_page(leak.read_counts())


def test_the_counts_in_the_docs_are_those_of_the_data():
    try:
        folder = data_folder()
    except InputError as absent:
        pytest.skip(str(absent))
    assert count_leaks(DataTable.read(folder)) == leak.read_counts()
