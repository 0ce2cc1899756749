"""Tables are made from runs' files alone."""

import json
from statistics import mean, stdev

import pytest

from nmspeller.errors import InputError
from nmspeller.lab.data.pairs import Pair, write_pairs
from nmspeller.lab.evaluation import paper, suites, tables
from nmspeller.lab.evaluation.runs import group_runs, read_runs

PAIRS = [Pair("他再家里", "他在家里"), Pair("我门走吧", "我们走吧"), Pair("好的", "好的")] * 10


@pytest.fixture
def runs_folder(tmp_path, monkeypatch):
    """A data folder with two sets, and five runs over them: BERT with two seeds, NM-BERT with three."""
    data, runs = tmp_path / "data", tmp_path / "runs"
    monkeypatch.setenv("NMSPELLER_DATA", str(data))
    for name in ("sighan13", "ecspell_law"):
        path = data / suites.SETS[name].path
        path.parent.mkdir(parents=True)
        write_pairs(path, PAIRS)
    for ngram, seeds in (("none", 2), ("right-bigram", 3)):
        for seed in range(seeds):
            write_run(runs, ngram, seed, right=10 + seed + 6 * (ngram != "none"))
    return runs


def write_run(folder, ngram, seed, right, **changes):
    predictions = {
        name: [pair.target if i < right else pair.source for i, pair in enumerate(suites.load(name))]
        for name in ("sighan13", "ecspell_law")
    }
    run = {
        "name": f"bert-{ngram}-{seed}",
        "model": "bert",
        "ngram": ngram,
        "active": "training",
        "seed": seed,
        "config": {
            "model": {"masking": ngram},
            "seed": seed,
            "epochs": 3,
            "start": "/somewhere/else/backbone",
        },
        "data_hashes": {"pairs": "0123456789abcdef0123"},
        "seconds": 1234.5,
        "metrics": {name: scores.as_dict() for name, scores in suites.score(predictions).items()},
        "edits": {name: suites.edits_of(name, answers) for name, answers in predictions.items()},
        **changes,
    }
    folder.mkdir(exist_ok=True)
    (folder / f"{run['name']}.json").write_text(json.dumps(run), encoding="utf-8")


def rows(page, section):
    lines = page.split(f"## {section}\n")[1].split("\n## ")[0].splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [dict(zip(table[0], row, strict=True)) for row in table[2:]]


def test_a_page_holds_means_deviations_and_the_paper_s_figures(runs_folder, tmp_path):
    (page,) = tables.write_results(runs_folder, tmp_path / "out")
    plain, masked = rows(page.read_text(encoding="utf-8"), "SIGHAN13")
    assert (plain["Speller"], plain["n-gram"], plain["Seeds"]) == ("BERT", "none", "0, 1")
    assert (masked["Speller"], masked["n-gram"], masked["Seeds"]) == ("NM-BERT*", "right-bigram", "0, 1, 2")
    groups = group_runs(read_runs(runs_folder))
    for row, group, key in ((plain, groups[0], False), (masked, groups[1], True)):
        figures = group.figures("sighan13", "sentence", "correction", "f1")
        assert len(figures) == len(group.runs)
        theirs = paper.RESULTS["bert", key, "sighan13"].correction[2]
        assert row["Cor. F1"] == f"{mean(figures):.2f} ± {stdev(figures):.2f} ({theirs:.2f})"


def test_significance_is_against_the_unmasked_speller_on_common_seeds(runs_folder, tmp_path):
    (page,) = tables.write_results(runs_folder, tmp_path / "out")
    plain, masked = rows(page.read_text(encoding="utf-8"), "SIGHAN13")
    assert (plain["Δ"], plain["p"]) == ("–", "–")
    assert float(masked["Δ"]) > 0
    assert 0 < float(masked["p"]) < 0.2
    unmasked, with_masking = group_runs(read_runs(runs_folder))
    comparison = tables.compare_groups(unmasked, with_masking, "sighan13")
    assert masked["Δ"] == f"{comparison.difference:+.2f}"
    assert masked["p"] == f"{comparison.p_randomisation:.3f}"


def test_runs_and_protocol_are_told_without_paths(runs_folder, tmp_path):
    (page,) = tables.write_results(runs_folder, tmp_path / "out")
    text = page.read_text(encoding="utf-8")
    assert len(rows(text, "Runs")) == 5
    assert rows(text, "Runs")[0] == {
        "Run": "bert-none-0",
        "Seed": "0",
        "Seconds": "1,234",
        "Data": "D1",
    }
    assert text.count("D1: pairs `0123456789ab`") == 1
    assert "D2" not in text
    assert '"start": "backbone"' in text
    assert "/somewhere" not in text
    assert text.count("```json") == 1
    assert "/ 0.0" in rows(text, "Other sets")[0]["ecspell_law"]


def test_other_protocols_are_not_averaged(runs_folder):
    write_run(runs_folder, "none", 7, right=3, name="longer", config={"epochs": 10})
    groups = group_runs(read_runs(runs_folder))
    assert sorted(len(group.runs) for group in groups) == [1, 2, 3]


def test_the_same_run_twice_is_refused(runs_folder):
    write_run(runs_folder, "none", 0, right=3, name="again")
    with pytest.raises(InputError, match="again"):
        group_runs(read_runs(runs_folder))


def test_one_seed_has_no_deviation():
    assert tables.spread([]) == "–"
    assert tables.spread([50.0]) == "50.00"
    assert tables.spread([50.0, 52.0]) == "51.00 ± 1.41"


def test_the_paper_s_figures_stand_where_it_gives_them():
    assert tables.paper_figures("bert", "none", "sighan14")[5] == 64.35
    assert tables.paper_figures("bert", "unigram", "sighan14") == (None, None, None, None, None, 62.52)
    assert tables.paper_figures("dcn", "left-bigram", "sighan15")[5] == 75.92
    assert tables.paper_figures("dcn", "trigram", "sighan15") == (None,) * 6
    assert tables.paper_figures("ours", "none", "sighan15") == (None,) * 6


def test_logs_beside_the_runs_become_a_curve(runs_folder, tmp_path):
    (runs_folder / "bert-none-0.jsonl").write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "loss": 1.0}\n')
    page, curve = tables.write_results(runs_folder, tmp_path / "out")
    assert "loss.png" in page.read_text(encoding="utf-8")
    assert curve.read_bytes().startswith(b"\x89PNG")


def test_damaged_or_absent_runs_are_named(tmp_path):
    with pytest.raises(InputError, match="no runs"):
        read_runs(tmp_path)
    (tmp_path / "other.json").write_text('{"loss": 1}')
    with pytest.raises(InputError, match="no runs"):
        read_runs(tmp_path)
    (tmp_path / "half.json").write_text('{"metrics": {}, "edits": {}, "name": "half"}')
    with pytest.raises(InputError, match=r"half\.json has no model"):
        read_runs(tmp_path)
    (tmp_path / "broken.json").write_text('{"metrics": ')
    with pytest.raises(InputError, match=r"broken\.json cannot be read"):
        read_runs(tmp_path)
