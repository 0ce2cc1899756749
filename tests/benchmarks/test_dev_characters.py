"""What dev pairs say of a model, where right sentences of the same kind count beside them."""

import numpy as np
import pytest

from dev_characters import ECSPELL, MACRO, SIGHAN, Candidates, Readings


def candidates(*found: tuple[int, float, bool], errors: list[int]) -> Candidates:
    sentence, confidence, right = zip(*found, strict=True) if found else ((), (), ())
    return Candidates(
        np.array(sentence, np.intp), np.array(confidence, np.float32), np.array(right, bool), np.array(errors)
    )


def test_false_alarms_count_as_if_there_were_as_many_right_sentences() -> None:
    pairs = candidates((0, 0.9, True), (1, 0.8, True), (2, 0.7, False), errors=[1, 1, 1, 1])
    assert pairs.f1(0.75) == pytest.approx(200 * 2 / (2 + 4))
    assert pairs.f1(0.5) == pytest.approx(200 * 2 / (3 + 4))
    assert pairs.f1(0.75, false_alarms=0.5) == pytest.approx(200 * 2 / (2 + 4 * 0.5 + 4))


def test_the_threshold_is_the_best_one_of_all_sets_and_does_not_depend_on_the_clean_sentences() -> None:
    wrong = candidates((0, 0.9, True), (1, 0.3, True), errors=[1, 1])
    right = candidates((0, 0.2, False), errors=[0, 0])
    names = (*MACRO, *SIGHAN, *ECSPELL, "revisions2")
    clean = ("native_clean", "plain", "learners_clean", "queries_clean", "medical_clean")
    found = {**dict.fromkeys(names, wrong), **dict.fromkeys(clean, right)}
    for quiet in (candidates(errors=[0]), candidates((0, 0.99, False), errors=[0])):
        judged = Readings(found, quiet).weighed()
        assert judged["macro"] == judged["chosen_by"] == 100
        assert 0.2 < judged["threshold"] <= 0.3
    noisy = {**found, "medical_clean": candidates((0, 0.95, False), (1, 0.95, False), errors=[0, 0])}
    judged = Readings(noisy, candidates(errors=[0])).weighed()
    assert judged["medical"] == pytest.approx(200 * 2 / (2 + 2 + 2), abs=0.01)
    assert judged["native"] == 100
