"""The names and terms of the benchmark: the set is what it says, and a listed name is never edited."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from nmspeller import Speller
from nmspeller.runtime.policy import Level

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "names.py"


@pytest.fixture(scope="module")
def names() -> ModuleType:
    specification = importlib.util.spec_from_file_location("names_benchmark", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_there_are_three_hundred_different_ones(names: ModuleType) -> None:
    cases = names.read_cases()
    assert len({case.name for case in cases}) == len(cases) >= 300
    for case in cases:
        assert case.sentence[case.offset : case.offset + len(case.name)] == case.name


def test_listed_names_survive_the_most_eager_speller(names: ModuleType, eager: Speller) -> None:
    cases = names.read_cases()
    listed = [case.name for case in cases]
    assert names.touched(eager, cases, Level.THOROUGH, []) != []
    assert names.touched(eager, cases, Level.THOROUGH, listed) == []
