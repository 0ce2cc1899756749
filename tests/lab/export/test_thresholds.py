import shutil
from pathlib import Path

import numpy as np
import pytest

from nmspeller import InputError
from nmspeller.lab.data.pairs import Pair
from nmspeller.lab.export import thresholds
from nmspeller.lab.export.thresholds import Counts, ScoredCandidates, calibrate, candidates, choose
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import Level, Policy, Thresholds


def of(*rows: tuple[int, float, bool, bool], errors: list[int]) -> ScoredCandidates:
    """Rows of sentence, confidence, explained, right; every sentence is one window."""
    sentence, confidence, explained, right = (np.array(column) for column in zip(*rows, strict=True))
    probability, source_probability = np.ones(len(rows)), 1 / confidence - 1
    return ScoredCandidates(
        sentence, sentence, probability, source_probability, explained, right, np.array(errors)
    )


DEV = of(
    (0, 0.9, True, True),  # corrected
    (1, 0.8, True, True),  # corrected, but for
    (1, 0.4, False, False),  # a false change
    (2, 0.6, False, False),  # a false alarm
    (3, 0.3, True, True),  # one of two errors
    errors=[1, 1, 0, 2],
)


def test_sentences_are_counted_as_the_metrics_count_them() -> None:
    counts = DEV.measure(Thresholds(0.25, 0.35))
    assert counts == (1, 4, 3, 1, 1)
    assert DEV.measure(Thresholds(0.25, 0.7)) == (2, 3, 3, 0, 1)
    assert DEV.measure(Thresholds(0.5, 0.7)).f(1.0) == pytest.approx(2 * 2 / (2 + 3))


def test_with_a_share_of_wrong_sentences_clean_ones_are_weighted() -> None:
    counts = Counts(corrected=6, changed=9, wrong=10, false_alarms=1, clean=38)
    # One wrong sentence in twenty: 190 clean ones beside the 10 wrong ones, of which 5 are changed.
    assert counts.f(1.0, 1 / 20) == pytest.approx(2 * 6 / (8 + 5 + 10))
    assert counts.f(0.5, 1 / 20) == pytest.approx(1.25 * 6 / (8 + 5 + 2.5))
    assert Counts(6, 8, 10, 0, 0).f(1.0, 1 / 20) == pytest.approx(2 * 6 / (8 + 10))


def test_the_best_thresholds_are_chosen() -> None:
    balanced = choose(DEV)[Level.BALANCED]
    assert 0.3 < balanced.explained <= 0.8
    assert balanced.unexplained > 0.6


def test_clean_sentences_raise_the_thresholds() -> None:
    """Three errors at 0.3 are worth one false alarm in 200 sentences, but not one in 100."""
    rows = [(number, 0.3, True, True) for number in range(3)] + [(3, 0.3, True, False), (4, 0.9, True, True)]

    def balanced(clean: int) -> float:
        found = of(*rows, errors=[1, 1, 1, 0, 1] + [0] * (clean - 1))
        return choose(found)[Level.BALANCED].explained

    assert balanced(200) <= 0.3
    assert balanced(100) > 0.3


def test_thorough_has_no_limit_but_what_alarms_cost() -> None:
    found = of((0, 0.9, True, True), (1, 0.3, True, True), (2, 0.3, True, False), errors=[1, 1, *[0] * 100])
    levels = choose(found)
    assert levels[Level.BALANCED].explained > 0.3 >= levels[Level.THOROUGH].explained


def test_stricter_levels_are_stricter() -> None:
    levels = choose(DEV)
    for part in ("explained", "unexplained"):
        careful, balanced, thorough = (getattr(levels[level], part) for level in Level)
        assert careful >= balanced >= thorough


def test_candidates_are_compared_with_the_targets(model_folder: Path) -> None:
    pipeline = Pipeline(model_folder, threads=1)
    source = "我门去外国可以认识很多的人。"
    found = candidates(pipeline, [Pair(source, source), Pair("", ""), Pair(source, source)])
    assert found.errors.tolist() == [0, 0, 0]
    assert set(found.sentence.tolist()) == {0, 2}
    assert not found.right.any()


def test_calibration_writes_the_chosen_thresholds(model_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(model_folder, tmp_path / "model")
    pipeline = Pipeline(folder, threads=1)
    source = "我门去外国可以认识很多的人。"
    target = source.replace("门", "们")
    # The pair without an error is no clean sentence: those are given apart.
    policy = calibrate(pipeline, [Pair(source, target), Pair(target, target)], [target] * 3)
    policy.write(folder / "policy.json")
    again = Policy.read(folder / "policy.json")
    assert again == policy
    assert again.calibration["pairs"] == 1
    assert again.calibration["clean_sentences"] == 3
    assert set(again.calibration["levels"]) == {"careful", "balanced", "thorough"}
    assert again.levels[Level.CAREFUL].explained >= again.levels[Level.THOROUGH].explained


def test_pairs_of_other_kinds_can_ask_for_a_second_pass(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a point of F1 in the mean of both is worth it."""
    pipeline = Pipeline(model_folder, threads=1)
    dev, others = [Pair("我门走了。", "我们走了。")], [Pair("他门走了。", "他们走了。")]
    by_passes = {dev[0]: (0.7, 0.702), others[0]: (0.7, 0.71)}
    monkeypatch.setattr(thresholds, "_f1_by_passes", lambda _pipeline, pairs, *_rest: by_passes[pairs[0]])
    assert calibrate(pipeline, dev).passes == 1
    both = calibrate(pipeline, dev, others=others)
    assert both.passes == 2
    assert both.calibration["f1_by_passes"] == [[70.0, 70.2], [70.0, 71.0]]


def test_calibration_without_pairs_is_an_error(model_folder: Path) -> None:
    with pytest.raises(InputError, match="no pairs"):
        calibrate(Pipeline(model_folder, threads=1), [])
