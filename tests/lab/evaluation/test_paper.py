"""The rows of the paper's tables agree with each other."""

import pytest

from nmspeller.lab.evaluation import paper

SETS = ("sighan13", "sighan14", "sighan15")
ROWS = pytest.mark.parametrize("row", paper.all_rows(), ids=lambda row: row.name)

# Sentences with errors in SIGHAN13, 14 and 15; the recalls of each speller are whole shares of these.
ERRONEOUS = (971, 520, 541)
ERRONEOUS_IN_OTHER_COPIES = (998, 531, 550)


def test_every_speller_has_a_row_for_every_set():
    found = {(row.speller, row.ngram != "none", row.test_set) for row in paper.all_rows()}
    assert found == {
        (speller, masked, name) for speller in paper.SPELLERS for masked in (False, True) for name in SETS
    }
    assert len(paper.all_rows()) == len(found)


@ROWS
def test_f1_is_the_harmonic_mean_of_precision_and_recall(row):
    for precision, recall, f1 in (row.paper.detection, row.paper.correction):
        assert 2 * precision * recall / (precision + recall) == pytest.approx(f1, abs=0.011)


@ROWS
def test_recalls_are_shares_of_the_erroneous_sentences(row):
    numbers = ERRONEOUS_IN_OTHER_COPIES if row.speller in ("spellgcn", "dcn") else ERRONEOUS
    erroneous = numbers[SETS.index(row.test_set)]
    for _, recall, _ in (row.paper.detection, row.paper.correction):
        nearest = round(recall * erroneous / 100)
        assert 100 * nearest / erroneous == pytest.approx(recall, abs=0.0051)


@ROWS
def test_n_grams_that_gain_agree_with_the_figures(row):
    if row.ngram == "none":
        assert not row.paper.gaining
        return
    plain = paper.find_row(row.speller, row.test_set, masked=False).paper.correction[2]
    assert (row.paper.correction[2] > plain) == (row.ngram in row.paper.gaining) == bool(row.paper.gaining)
    if row.speller == "bert":
        figures = {**row.paper.other_ngrams, row.ngram: row.paper.correction[2]}
        assert set(figures) == set(paper.NGRAMS) - {"none"}
        assert {ngram for ngram, f1 in figures.items() if f1 > plain} == set(row.paper.gaining)
        assert max(figures, key=figures.get) == row.ngram


def test_figures_are_given_where_the_paper_has_them():
    assert paper.figures("bert", "none", "sighan14")[5] == 64.35
    assert paper.figures("bert", "unigram", "sighan14") == (None, None, None, None, None, 62.52)
    assert paper.figures("dcn", "left-bigram", "sighan15")[5] == 75.92
    assert paper.figures("dcn", "trigram", "sighan15") == (None,) * 6
    assert paper.figures("dgspeller", "trigram", "sighan13") == (None,) * 6
    assert paper.figures("ours", "none", "sighan15") == (None,) * 6


def test_figures_of_other_settings_are_not_compared():
    weights = {"phonetic_weight": 0.8, "graphic_weight": 0.2}
    assert paper.figures("phmospell", "none", "sighan15", weights)[5] == 77.19
    assert paper.figures("phmospell", "none", "sighan13", weights) == (None,) * 6
