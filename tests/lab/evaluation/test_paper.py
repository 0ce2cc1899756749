"""The typed figures agree with each other."""

import pytest

from nmspeller.lab.evaluation.paper import BERT_NGRAMS, BEST_NGRAMS, COUNTED, MODELS, NGRAMS, RESULTS

SETS = ("sighan13", "sighan14", "sighan15")


def test_every_speller_has_a_row_for_every_set():
    assert set(RESULTS) == {
        (model, masked, name) for model in MODELS for masked in (False, True) for name in SETS
    }
    assert tuple(BERT_NGRAMS) == NGRAMS


@pytest.mark.parametrize("key", RESULTS)
def test_f1_is_the_mean_of_precision_and_recall(key):
    for precision, recall, f1 in RESULTS[key][:2]:
        assert 2 * precision * recall / (precision + recall) == pytest.approx(f1, abs=0.011)


def test_tables_agree():
    for name in SETS:
        assert BERT_NGRAMS["none"][name] == RESULTS["bert", False, name].correction[2]
        assert BERT_NGRAMS[BEST_NGRAMS["bert"][name]][name] == RESULTS["bert", True, name].correction[2]
    for (model, masked, name), row in RESULTS.items():
        if masked:
            gain = row.correction[2] - RESULTS[model, False, name].correction[2]
            assert (gain > 0) == (name in BEST_NGRAMS[model])


@pytest.mark.parametrize("key", RESULTS)
def test_recalls_are_shares_of_the_sentences_counted(key):
    model, _, name = key
    counted = COUNTED[model][SETS.index(name)]
    for _, recall, _ in RESULTS[key][:2]:
        nearest = round(recall * counted / 100)
        assert 100 * nearest / counted == pytest.approx(recall, abs=0.0051)
