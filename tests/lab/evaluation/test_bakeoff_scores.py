"""The toy evaluations that the bake-offs released: every figure and every list in them."""

import re
from fractions import Fraction

import pytest

from nmspeller.errors import InputError
from nmspeller.lab.data.bakeoff import Mistake, read_answers
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.evaluation.bakeoff_scores import (
    evaluate_sighan13,
    evaluate_sighan13_subtask1,
    evaluate_sighan13_subtask2,
    evaluate_sighan15,
)
from nmspeller.lab.evaluation.metrics import evaluate

TOYS = {
    "2013, sub-task 1": (
        "sighan7csc_release1.0/EvaluationTool/Toy_SubTask1",
        evaluate_sighan13_subtask1,
        9,
        9,
    ),
    "2013, sub-task 2": (
        "sighan7csc_release1.0/EvaluationTool/Toy_SubTask2",
        evaluate_sighan13_subtask2,
        3,
        4,
    ),
    "2014": ("clp14csc_release1.1/Tool/CLP14_Toy", evaluate_sighan15, 9, 8),
    "2015": ("sighan8csc_release1.0/Tool/SIGHAN15_Toy", evaluate_sighan15, 9, 8),
}


@pytest.fixture(params=TOYS)
def toy(request):
    """The evaluation computed from the released result and truth, and the released evaluation's text."""
    try:
        official = data_folder() / "sighan" / "official"
    except InputError as absent:
        pytest.skip(str(absent))
    stem, evaluate, figures, lists = TOYS[request.param]
    characters = evaluate is not evaluate_sighan13_subtask1
    truth, result = (
        read_answers(official / f"{stem}_{part}.txt", characters=characters) for part in ("Truth", "Result")
    )
    expected = (official / f"{stem}_Evaluation.txt").read_text(encoding="utf-8")
    return evaluate(truth, result), expected, figures, lists


def released_figures(text):
    """Name, printed value and fraction of each figure; the later tools print a level above its figures."""
    level = ""
    for line in text.split("Part 2")[0].splitlines():
        if re.fullmatch(r"\w+ Level", line.strip()):
            level = line.strip() + " "
        figure = re.fullmatch(r"(\s*)(.+?) = ([\d.]+) \(=?(.+)\)", line.rstrip())
        if figure:
            yield (level if figure[1] else "") + figure[2], float(figure[3]), figure[4]


def released_lists(text):
    """Name and sentence ids of each list."""
    level, name = "", ""
    for line in text.split("Part 2")[1].splitlines():
        if re.fullmatch(r"\w+ Level", line.strip()):
            level = line.strip() + " "
        heading = re.fullmatch(r"\s*#(?: of )?(.+?):\s*(\d*)\s*", line)
        if heading:
            name, count = heading[1], heading[2]
        elif "|" in line or line.strip().startswith("("):
            ids = re.findall(r"(?:^|[(|])\s*([\w-]+)", line.replace("| (", "("))
            yield level + name, count, ids


def test_every_figure_is_reproduced(toy):
    evaluation, text, count, _ = toy
    figures = list(released_figures(text))
    assert len(figures) == count == len(evaluation.figures)
    for name, printed, fraction in figures:
        # One third is printed as 0.3334 by the tool of 2014.
        assert float(evaluation.figures[name]) == pytest.approx(printed, abs=1.01e-4), name
        if re.fullmatch(r"\d+/\d+", fraction):
            assert evaluation.figures[name] == Fraction(fraction), name


def test_every_list_is_reproduced(toy):
    evaluation, text, _, count = toy
    lists = list(released_lists(text))
    assert len(lists) == count == len(evaluation.details)
    for name, number, ids in lists:
        assert list(evaluation.details[name]) == ids, name
        assert number in ("", str(len(ids))), name


def test_the_bake_off_s_precision_is_our_loose_one():
    sources = ["他再家", "好天气", "我门走", "你好吗", "再见了"]
    targets = ["他在家", "好天气", "我们走", "你好吗", "再见了"]
    predictions = ["他载家", "坏天气", "我们走", "你好吗", "在见了"]
    scores = evaluate(sources, targets, predictions)

    def answers(texts):
        pairs = zip(sources, texts, strict=True)
        return {
            str(number): tuple(
                Mistake(i, b) for i, (a, b) in enumerate(zip(s, t, strict=True), start=1) if a != b
            )
            for number, (s, t) in enumerate(pairs)
        }

    figures = evaluate_sighan15(answers(targets), answers(predictions)).figures
    ours = scores.sentence_loose.correction
    assert 100 * figures["Correction Level Precision"] == pytest.approx(ours.precision)
    assert 100 * figures["Correction Level Recall"] == pytest.approx(ours.recall)
    assert 100 * figures["Correction Level F1-Score"] == pytest.approx(ours.f1)
    assert 100 * figures["False Positive Rate"] == pytest.approx(scores.changed_clean)
    assert 100 * figures["Detection Level Accuracy"] == pytest.approx(scores.detection_accuracy)
    assert 100 * figures["Correction Level Accuracy"] == pytest.approx(scores.correction_accuracy)


def test_no_findings_score_zero_and_unknown_ids_are_an_error():
    truth = {"1": (Mistake(1, "好"),), "2": ()}
    assert evaluate_sighan15(truth, {}).figures["Correction Level F1-Score"] == 0
    with pytest.raises(InputError, match="answers 3"):
        evaluate_sighan15(truth, {"3": ()})


def test_the_sub_task_of_sighan13_follows_from_the_truth():
    with_characters = {"1": (Mistake(1, "好"),), "2": (Mistake(2, "在"),)}
    assert "Correction Accuracy" in evaluate_sighan13(with_characters, {}).figures
    for truth in ({"1": (Mistake(1, "好"),), "2": ()}, {"1": (Mistake(1, ""),), "2": (Mistake(2, ""),)}):
        assert "Error Location Accuracy" in evaluate_sighan13(truth, {}).figures
