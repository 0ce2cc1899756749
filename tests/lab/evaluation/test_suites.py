"""The evaluation sets by name."""

import pytest

from nmspeller.errors import InputError
from nmspeller.lab.data.pairs import write_pairs
from nmspeller.lab.evaluation import suites


@pytest.fixture
def small_data(tmp_path, monkeypatch):
    """A data folder with two small sets."""
    monkeypatch.setenv("NMSPELLER_DATA", str(tmp_path))
    pairs = [("高兴的跳再", "高兴地跳在"), ("好", "好")]
    for year in (13, 14):
        path = tmp_path / f"sighan/simplified/test{year}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_pairs(path, pairs)


def test_each_set_is_scored_by_its_own_rule(small_data):
    scores = suites.score(
        suites.predict(lambda texts: [text.replace("再", "在") for text in texts], ["sighan13", "sighan14"])
    )
    assert scores["sighan13"].sentence.correction.f1 == 100
    assert scores["sighan14"].sentence.correction.f1 == 0
    assert scores["sighan14"].character.correction.precision == 100


def test_predictions_can_be_kept_and_scored_later(small_data):
    predictions = suites.predict(lambda texts: texts, ["sighan14"])
    assert predictions == {"sighan14": ["高兴的跳再", "好"]}
    assert suites.score(predictions)["sighan14"].sentence.correction.recall == 0


def test_unknown_sets_and_absent_data_are_input_errors(small_data):
    with pytest.raises(InputError, match="not an evaluation set"):
        suites.load("sighan16")
    with pytest.raises(InputError, match="cannot be read"):
        suites.load("cscd_ns_dev")


def test_every_set_loads_where_the_data_is():
    from nmspeller.lab.data.folder import data_folder

    try:
        data_folder()
    except InputError as absent:
        pytest.skip(str(absent))
    assert {name: len(suites.load(name)) for name in suites.names()} == {
        "sighan13": 1000,
        "sighan14": 1062,
        "sighan15": 1100,
        "sighan14_multierror": 310,
        "sighan15_multierror": 242,
        "ecspell_law": 500,
        "ecspell_med": 500,
        "ecspell_odw": 500,
        "cscd_ns_dev": 5000,
    }
