"""`nmspeller evaluate` with a speller of two rules."""

import json

import pytest

from nmspeller.__main__ import run
from nmspeller.errors import InputError
from nmspeller.lab.cli.evaluate import BakeoffFormat
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.data.pairs import write_pairs
from nmspeller.lab.evaluation.bakeoff_scores import OFFICIAL
from nmspeller.lab.evaluation.metrics import evaluate
from nmspeller.runtime.correction import Correction


class SmallSpeller:
    """Replaces 再 by 在 and 的 by 地, whatever the context."""

    def __init__(self, model=None, *, level="balanced", rules=True):
        assert rules is False  # the model alone is measured
        if model == "absent":
            raise InputError("no model at absent; name a folder that holds model.onnx.")
        self.active = level != "careful"

    def check_many(self, texts):
        return [Correction(text, self.correct(text) if self.active else text, ()) for text in texts]

    @staticmethod
    def correct(text):
        return text.replace("再", "在").replace("的", "地")


PAIRS = [("他再家", "他在家"), ("高兴的跳", "高兴的跳"), ("再见", "再见"), ("我门走", "我们走")] * 100


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr("nmspeller.runtime.speller.Speller", SmallSpeller)
    write_pairs(tmp_path / "pairs.tsv", PAIRS)
    return str(tmp_path / "pairs.tsv")


@pytest.mark.parametrize("drop_de", [False, True])
def test_json_contains_the_scores_of_the_metrics(path, capsys, drop_de):
    assert run(["evaluate", path, "-o", "json", *["--drop-de"] * drop_de]) == 0
    printed = json.loads(capsys.readouterr().out)
    sources, targets = zip(*PAIRS, strict=True)
    answers = [SmallSpeller.correct(source) for source in sources]
    assert printed == evaluate(sources, targets, answers, drop_de=drop_de).as_dict()
    assert list(printed) == ["sentences", "changed_clean", "sentence", "sentence_loose", "character"]
    assert list(printed["character"]["correction"]) == ["precision", "recall", "f1"]
    assert printed["changed_clean"] == (50.0 if drop_de else 100.0)


def test_the_table_shows_every_level(path, capsys):
    assert run(["evaluate", path]) == 0
    out = capsys.readouterr().out
    for words in ("sentence, loose", "character", "correction", "400 sentences", "100.00 %"):
        assert words in out


def test_the_level_reaches_the_speller(path, capsys):
    assert run(["evaluate", path, "-o", "json", "--level", "careful"]) == 0
    assert json.loads(capsys.readouterr().out)["changed_clean"] == 0


def test_unusable_input_is_reported_in_one_sentence(path, tmp_path, capsys):
    bad, empty = tmp_path / "bad.tsv", tmp_path / "empty.tsv"
    bad.write_text("他\t\n", encoding="utf-8")
    empty.write_text("", encoding="utf-8")
    unequal = tmp_path / "unequal.tsv"
    unequal.write_text("他\t她们\n", encoding="utf-8")
    for arguments, words in (
        ([str(bad)], "line 1"),
        ([str(empty)], "no pairs"),
        ([str(unequal), "--drop-de"], "unequal length"),
        ([str(tmp_path / "absent.tsv")], "cannot be read"),
        ([path, "--model", "absent"], "no model"),
        ([path, "--truth", path], "give --format"),
        ([path, "--format", "sighan15"], "give --truth"),
        ([path, "--format", "sighan15", "--truth", path], "no passage"),
    ):
        assert run(["evaluate", *arguments]) == 2
        error = capsys.readouterr().err
        assert words in error
        assert error.count("\n") == 1


UNEQUAL = [
    ("他再家", "他在家"),  # corrected
    ("他再", "他在家"),  # changed wrongly
    ("我觉很好", "我觉得很好"),  # left
    ("再见", "再见"),  # changed though right
    ("很好", "很好"),
]


@pytest.fixture
def unequal(path, tmp_path):
    file = tmp_path / "unequal.tsv"
    file.write_text("".join(f"{source}\t{target}\n" for source, target in UNEQUAL), encoding="utf-8")
    return str(file)


def test_pairs_of_unequal_length_are_compared_as_wholes(unequal, capsys):
    assert run(["evaluate", unequal, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "metric": "sentence-level exact match",
        "sentences": 5,
        "wrong": 3,
        "changed": 3,
        "corrected": pytest.approx(100 / 3),
        "changed_right": pytest.approx(100 / 3),
        "changed_clean": 50.0,
    }


def test_the_metric_of_pairs_of_unequal_length_is_named(unequal, capsys):
    assert run(["evaluate", unequal]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for words in (
        "exact match",
        "2 of 5 pairs, first in line 2",
        "33.33 % of the 3 wrong",
        "50.00 % of the 2 right",
    ):
        assert words in out


def test_a_speller_that_changes_the_length_can_be_scored(path, bakeoff, capsys, monkeypatch):
    monkeypatch.setattr(SmallSpeller, "correct", staticmethod(lambda text: text.replace("再", "在这")))
    assert run(["evaluate", path, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["sentence"]["correction"]["f1"] == 0
    assert run(["evaluate", *bakeoff, "--format", "sighan15"]) == 0
    assert json.loads(capsys.readouterr().out)["official"]["Correction Level Precision"] == 0


INPUT = "(pid=A-1)\t他再家\n(pid=A-2)\t我門走\n(pid=A-3)\t你好嗎\n(pid=A-4)\t再見了\n"
TRUTH = "A-1, 2, 在\nA-2, 2, 們\nA-3, 0\nA-4, 0\n"


@pytest.fixture
def bakeoff(path, tmp_path):
    (tmp_path / "input.txt").write_text(INPUT, encoding="utf-8")
    (tmp_path / "truth.txt").write_text(TRUTH, encoding="utf-8")
    return [str(tmp_path / "input.txt"), "--truth", str(tmp_path / "truth.txt"), "-o", "json"]


@pytest.mark.parametrize("name", ["clp14", "sighan15"])
def test_a_bake_off_gives_the_official_scores_beside_ours(bakeoff, tmp_path, capsys, name):
    result = tmp_path / "result.txt"
    assert run(["evaluate", *bakeoff, "--format", name, "--result", str(result)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["official"]["Correction Level Precision"] == 0.5
    assert printed["official"]["Correction Level Recall"] == 0.5
    assert printed["official"]["False Positive Rate"] == 0.5
    assert printed["sentence_loose"]["correction"] == {"precision": 50.0, "recall": 50.0, "f1": 50.0}
    assert result.read_text(encoding="utf-8") == "A-1, 2, 在\nA-2, 0\nA-3, 0\nA-4, 1, 在\n"


def test_the_first_sub_task_of_sighan13_has_positions_only(bakeoff, tmp_path, capsys):
    (tmp_path / "truth.txt").write_text("A-1, 2\nA-2, 2\nA-3, 0\nA-4, 0\n", encoding="utf-8")
    assert run(["evaluate", *bakeoff, "--format", "sighan13"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["sentences", "official"]
    assert printed["official"]["Error Location Precision"] == 0.5
    assert printed["official"]["False-Alarm Rate"] == 0.5


def test_training_sgml_needs_no_truth(path, tmp_path, capsys):
    sgml = tmp_path / "training.sgml"
    sgml.write_text(
        '<PASSAGE id="1">他再家</PASSAGE><MISTAKE id="1" location="2">'
        "<WRONG>再</WRONG><CORRECTION>在</CORRECTION></MISTAKE>",
        encoding="utf-8",
    )
    assert run(["evaluate", str(sgml), "--format", "sighan15"]) == 0
    out = capsys.readouterr().out
    assert "Official scores" in out
    assert "1.0000" in out


@pytest.mark.parametrize(
    ("name", "test", "truth", "sentences"),
    [
        ("sighan13", "sighan7csc_release1.0/DryRun/DryRun_SubTask1.txt", "_Truth.txt", 50),
        ("sighan13", "sighan7csc_release1.0/DryRun/DryRun_SubTask2.txt", "_Truth.txt", 50),
        ("clp14", "clp14csc_release1.1/Dryrun/CLP14_CSC_DryRun_Input.txt", "Truth.txt", 20),
        ("sighan15", "sighan8csc_release1.0/Dry/SIGHAN15_CSC_DryInput.txt", "Truth.txt", 39),
    ],
)
def test_the_released_dry_runs_are_read(path, capsys, name, test, truth, sentences):
    try:
        official = data_folder() / "sighan" / "official"
    except InputError as absent:
        pytest.skip(str(absent))
    answers = str(official / test).replace("Input.txt", truth).replace("1.txt", "1" + truth)
    answers = answers.replace("2.txt", "2" + truth)
    assert run(["evaluate", str(official / test), "--format", name, "--truth", answers, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["sentences"] == sentences


def test_every_bake_off_format_has_an_official_evaluation():
    assert {each.value for each in BakeoffFormat} == {"pairs", *OFFICIAL}
