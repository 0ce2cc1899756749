"""The scores against a plain reading of the definitions, sentence by sentence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmspeller.errors import InputError
from nmspeller.lab.evaluation.metrics import compare, evaluate

# 地 and 得 are there so that the rule about them meets real cases, an astral character for the offsets.
character = st.sampled_from("地得的他𠮷")


@st.composite
def triples(draw):
    lengths = draw(st.lists(st.integers(0, 5), max_size=8))
    return [
        tuple("".join(draw(st.lists(character, min_size=n, max_size=n))) for _ in range(3)) for n in lengths
    ]


def edits(source, text, drop_de):
    changes = {(i, b) for i, (a, b) in enumerate(zip(source, text, strict=True)) if a != b}
    return {(i, b) for i, b in changes if not (drop_de and b in "地得")}


def plain_scores(sentences, drop_de):
    """Count one sentence after another, as ReaLiSe's and pycorrector's scripts do."""
    found = wrong = clean = changed_clean = 0
    hits = {"detection": 0, "correction": 0}
    characters = {"found": 0, "wrong": 0, "detection": 0, "correction": 0}
    for source, target, prediction in sentences:
        gold, guess = edits(source, target, drop_de), edits(source, prediction, drop_de)
        wrong += gold != set()
        found += guess != set()
        clean += gold == set()
        changed_clean += gold == set() and guess != set()
        hits["detection"] += gold != set() and {i for i, _ in gold} == {i for i, _ in guess}
        hits["correction"] += gold != set() and gold == guess
        characters["found"] += len(guess)
        characters["wrong"] += len(gold)
        characters["detection"] += len({i for i, _ in gold} & {i for i, _ in guess})
        characters["correction"] += len(gold & guess)

    def level(hit, of_found, of_wrong):
        p = 100 * hit / of_found if of_found else 0
        r = 100 * hit / of_wrong if of_wrong else 0
        return {"precision": p, "recall": r, "f1": 2 * p * r / (p + r) if p + r else 0}

    tasks = ("detection", "correction")
    return {
        "sentences": len(sentences),
        "changed_clean": 100 * changed_clean / clean if clean else 0,
        "sentence": {t: level(hits[t], found, wrong) for t in tasks},
        "sentence_loose": {t: level(hits[t], hits[t] + changed_clean, wrong) for t in tasks},
        "character": {t: level(characters[t], characters["found"], characters["wrong"]) for t in tasks},
    }


def columns(sentences):
    return [list(column) for column in zip(*sentences, strict=True)] if sentences else [[], [], []]


def flat(scores, prefix=""):
    for name, value in scores.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


@settings(deadline=None)
@given(triples(), st.booleans())
def test_scores_follow_the_definitions(sentences, drop_de):
    ours = dict(flat(evaluate(*columns(sentences), drop_de=drop_de).as_dict()))
    assert ours == pytest.approx(dict(flat(plain_scores(sentences, drop_de))))


@settings(deadline=None)
@given(triples())
def test_a_perfect_speller_scores_a_hundred(sentences):
    sources, targets, _ = columns(sentences)
    scores = evaluate(sources, targets, targets)
    hundred = 100.0 if sources != targets else 0.0
    for tasks in (scores.sentence, scores.sentence_loose, scores.character):
        for level in (tasks.detection, tasks.correction):
            assert (level.precision, level.recall, level.f1) == (hundred, hundred, hundred)
    assert scores.changed_clean == 0
    if sources:
        assert scores.detection_accuracy == scores.correction_accuracy == 100


@settings(deadline=None)
@given(triples())
def test_a_speller_that_changes_nothing_has_no_recall_and_no_false_alarms(sentences):
    sources, targets, _ = columns(sentences)
    scores = evaluate(sources, targets, sources)
    assert scores.changed_clean == 0
    assert scores.sentence.detection.recall == scores.character.correction.recall == 0
    if sources:
        clean = sum(s == t for s, t in zip(sources, targets, strict=True))
        assert scores.correction_accuracy == pytest.approx(100 * clean / len(sources))


@settings(deadline=None)
@given(triples())
def test_the_loose_convention_never_scores_lower(sentences):
    scores = evaluate(*columns(sentences))
    assert scores.sentence_loose.correction.precision >= scores.sentence.correction.precision
    assert scores.sentence_loose.correction.recall == scores.sentence.correction.recall


def test_a_wrong_correction_counts_against_strict_precision_only():
    scores = evaluate(["他再家"], ["他在家"], ["他载家"])
    assert scores.sentence.detection.f1 == 100
    assert scores.sentence.correction.precision == 0
    two = evaluate(["他再家", "他再家"], ["他在家"] * 2, ["他载家", "他在家"])
    assert two.sentence.correction.precision == 50
    assert two.sentence_loose.correction.precision == 100


def test_edits_to_de_are_dropped_on_both_sides():
    sources, targets, predictions = (
        ["高兴的跳", "跑的快再"],
        ["高兴的跳", "跑得快在"],
        ["高兴地跳", "跑的快在"],
    )
    assert evaluate(sources, targets, predictions).sentence.correction.f1 == 0
    dropped = evaluate(sources, targets, predictions, drop_de=True)
    assert dropped.sentence.correction.f1 == 100
    assert dropped.changed_clean == 0
    kept = evaluate(sources, targets, predictions, drop_de="prediction")
    assert kept.sentence.correction.f1 == 0
    assert kept.character.correction.precision == 100
    assert kept.changed_clean == 0


def test_outcomes_are_per_sentence():
    outcomes = evaluate(["", "他再家", "好"], ["", "他在家", "好"], ["", "她在家", "坏"]).outcomes
    np.testing.assert_array_equal(outcomes.wrong, [0, 1, 0])
    np.testing.assert_array_equal(outcomes.found, [0, 2, 1])
    np.testing.assert_array_equal(outcomes.right, [0, 1, 0])
    np.testing.assert_array_equal(outcomes.corrected, [False, False, False])


def test_lone_surrogates_are_characters():
    assert evaluate(["\ud800a"], ["\ud801a"], ["\ud801a"]).sentence.correction.f1 == 100


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [((["a"], ["b"], []), "cannot be compared"), ((["a", "ab"], ["a", "abc"], ["a", "ab"]), "sentence 2")],
)
def test_unequal_lengths_are_an_error(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        evaluate(*arguments)


@pytest.mark.parametrize("prediction", ["我觉得很好", "我觉好", "的我觉很好", "我觉很好的"])
def test_a_prediction_of_another_length_is_a_change_and_wrong(prediction):
    for target in ("我觉很好", "我觉得好"):
        outcomes = compare(["我觉很好"], [target], [prediction])
        assert outcomes.changed.all()
        assert not outcomes.right_exactly.any()


def test_what_is_right_in_a_prediction_of_another_length_counts_by_character():
    outcomes = compare(["我门觉很很好"], ["我们觉很很好"], ["我们觉很好"])
    assert (outcomes.found[0], outcomes.right[0]) == (2, 1)
