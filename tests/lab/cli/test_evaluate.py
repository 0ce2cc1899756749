"""`nmspeller evaluate` with a speller that knows two words."""

import json

import pytest

from nmspeller.__main__ import run
from nmspeller.errors import InputError
from nmspeller.lab.data.pairs import write_pairs
from nmspeller.lab.evaluation.metrics import evaluate
from nmspeller.runtime.correction import Correction


class LittleSpeller:
    """Writes 在 for 再 and 地 for 的, with no idea of context."""

    def __init__(self, model=None, *, level="balanced"):
        if model == "absent":
            raise InputError("no model at absent; name a folder that holds model.onnx.")
        self.dare = level != "careful"

    def check_many(self, texts):
        return [Correction(text, self.correct(text) if self.dare else text, ()) for text in texts]

    @staticmethod
    def correct(text):
        return text.replace("再", "在").replace("的", "地")


PAIRS = [("他再家", "他在家"), ("高兴的跳", "高兴的跳"), ("再见", "再见"), ("我门走", "我们走")] * 100


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr("nmspeller.runtime.Speller", LittleSpeller)
    write_pairs(tmp_path / "pairs.tsv", PAIRS)
    return str(tmp_path / "pairs.tsv")


@pytest.mark.parametrize("drop_de", [False, True])
def test_json_is_what_the_metrics_say(path, capsys, drop_de):
    assert run(["evaluate", path, "--json", *["--drop-de"] * drop_de]) == 0
    printed = json.loads(capsys.readouterr().out)
    sources, targets = zip(*PAIRS, strict=True)
    answers = [LittleSpeller.correct(source) for source in sources]
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
    assert run(["evaluate", path, "--json", "--level", "careful"]) == 0
    assert json.loads(capsys.readouterr().out)["changed_clean"] == 0


def test_what_cannot_be_measured_is_refused_in_a_sentence(path, tmp_path, capsys):
    bad, empty = tmp_path / "bad.tsv", tmp_path / "empty.tsv"
    bad.write_text("他\t她们\n", encoding="utf-8")
    empty.write_text("", encoding="utf-8")
    for arguments, words in (
        ([str(bad)], "line 1"),
        ([str(empty)], "no pairs"),
        ([str(tmp_path / "absent.tsv")], "cannot be read"),
        ([path, "--model", "absent"], "no model"),
    ):
        assert run(["evaluate", *arguments]) == 2
        error = capsys.readouterr().err
        assert words in error
        assert error.count("\n") == 1
