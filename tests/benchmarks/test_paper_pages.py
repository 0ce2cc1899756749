"""The page of results is written from the results file, and the results file from the runs' files."""

import json
import re
from dataclasses import replace
from statistics import mean, stdev

import pytest

import gains
import paper_tables as tables
from nmspeller.errors import InputError
from nmspeller.lab.data.pairs import Pair, write_pairs
from nmspeller.lab.evaluation import outcomes, paper, results_file, suites
from nmspeller.lab.evaluation.results_file import add_results, group_runs, read_runs
from page import PAGES
from paper_cases import cases_page
from paper_pages import results_page, write_pages

PAIRS = [Pair("他再家里", "他在家里"), Pair("我门走吧", "我们走吧"), Pair("好的", "好的")] * 10
RECIPE = {"copies": {"wang": 1}, "synthetic": 0, "noise": {"profiles": {"scanner": 0.1}}}


@pytest.fixture
def runs_folder(tmp_path, monkeypatch):
    """A data folder with two sets, and five runs over them: BERT with two seeds, NM-BERT with three."""
    data, folder = tmp_path / "data", tmp_path / "runs"
    monkeypatch.setenv("NMSPELLER_DATA", str(data))
    for path in (data / "sighan/simplified/test13.tsv", data / "ecspell/law_test.tsv"):
        path.parent.mkdir(parents=True)
        write_pairs(path, PAIRS)
    for ngram, seeds in (("none", 2), ("right-bigram", 3)):
        for seed in range(seeds):
            write_run(folder, ngram, seed, right=10 + seed + 6 * (ngram != "none"))
    return folder


def write_run(folder, ngram, seed, right, **changes):
    predictions = {
        name: [pair.target if i < right else pair.source for i, pair in enumerate(suites.load(name))]
        for name in ("sighan13", "ecspell_law")
    }
    run = {
        "name": f"bert-{ngram}-{seed}",
        "model": "bert",
        "ngram": ngram,
        "active": "" if ngram == "none" else "training",
        "seed": seed,
        "config": {"seed": seed, "start": "/somewhere/else/backbone", "stages": [RECIPE]},
        "data_hashes": {"pairs": "0123456789abcdef0123"},
        "seconds": 1234.5,
        "metrics": {name: scores.as_dict() for name, scores in suites.score(predictions).items()},
        **outcomes.summary(predictions),
        "edits": {name: suites.edits_of(name, answers) for name, answers in predictions.items()},
        **changes,
    }
    folder.mkdir(exist_ok=True)
    (folder / f"{run['name']}.json").write_text(json.dumps(run), encoding="utf-8")


@pytest.fixture
def page(runs_folder, tmp_path):
    return page_of(tmp_path, read_runs(runs_folder))


def page_of(folder, measured):
    """The page of these runs, written by way of a results file."""
    path = folder / "results.json"
    add_results(path, measured)
    return results_page(group_runs(results_file.read_results(path)))


def rows(page, section):
    lines = page.split(f"## {section}\n")[1].split("\n## ")[0].splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [dict(zip(table[0], row, strict=True)) for row in table[2:]]


def test_a_page_has_means_deviations_and_the_paper_s_figures(page, runs_folder):
    plain, masked = rows(page, "SIGHAN13")
    assert (plain["Speller"], plain["n-gram"], plain["Seeds"]) == ("BERT", "none", "0, 1")
    assert (masked["Speller"], masked["n-gram"], masked["Seeds"]) == ("NM-BERT*", "right-bigram", "0, 1, 2")
    for row, group in zip((plain, masked), group_runs(read_runs(runs_folder)), strict=True):
        figures = group.figures("sighan13", "correction", "f1")
        assert len(figures) == len(group.runs)
        theirs = paper.find_row("bert", "sighan13", masked=row is masked).paper.correction[2]
        assert row["Cor. F1"] == f"{mean(figures):.2f} ± {stdev(figures):.2f} ({theirs:.2f})"


def test_significance_is_against_the_unmasked_speller_on_common_seeds(page, runs_folder):
    plain, masked = rows(page, "SIGHAN13")
    assert (plain["Δ"], plain["p"]) == ("–", "–")
    gain, low, high = map(float, re.fullmatch(r"(\S+) \((\S+) to (\S+)\)", masked["Δ"]).groups())
    assert 0 < low < gain < high
    assert 0 < float(masked["p"]) < 0.2
    unmasked, with_masking = group_runs(read_runs(runs_folder))
    comparison = gains.compare_groups(unmasked, with_masking, "sighan13")
    assert gain == pytest.approx(comparison.difference, abs=0.005)
    assert masked["p"] == f"{comparison.p_randomisation:.3f}"


def test_runs_and_protocols_are_listed_without_folders(page):
    assert len(rows(page, "Runs")) == 5
    assert rows(page, "Runs")[0] == {
        "Run": "runs/bert-none-0",
        "Seed": "0",
        "Seconds": "1,234",
        "Data": "D1",
    }
    assert page.count("D1: pairs `0123456789ab`") == 1
    assert "D2" not in page
    assert "/somewhere" not in page
    assert "/ 0.0" in rows(page, "Other sets")[0]["ecspell_law"]


def test_protocols_are_spelt_out_before_the_figures(page):
    assert page.index("## Protocols") < page.index("## SIGHAN13")
    (row,) = rows(page, "Protocols")
    assert row["Starts from an encoder"] == "that has read misspelt text"
    assert row["Learns from"] == "Wang271K"
    assert row["Wang271K"] == "its pairs"


def test_figures_of_a_run_are_those_of_its_metrics(runs_folder):
    for (_, content), run in zip(results_file.run_files(runs_folder), read_runs(runs_folder), strict=True):
        for name, metrics in content["metrics"].items():
            for task in ("detection", "correction"):
                for figure, value in metrics["sentence"][task].items():
                    assert run.figure(name, task, figure) == pytest.approx(value)
            assert run.figure(name, "changed_clean") == pytest.approx(metrics["changed_clean"])


def test_the_summary_takes_the_variant_that_is_best_on_dev(runs_folder, tmp_path):
    for seed in range(2):
        write_run(runs_folder, "trigram", seed, right=5)
    found = read_runs(runs_folder)
    on_dev = {"none": "ccmm", "trigram": "cccm", "right-bigram": "cmmm"}
    measured = [
        replace(
            run, outcomes=dict.fromkeys(outcomes.PAPER_SETS, run.outcomes["sighan13"]) | {outcomes.DEV: dev}
        )
        for run, dev in ((run, on_dev[run.ngram]) for run in found)
    ]
    page = page_of(tmp_path, measured)
    (row,) = rows(page, "In short")
    assert (row["Speller"], row["Seeds"], row["Masked"]) == ("BERT", "0, 1", "trigram*")
    assert page.split("##")[1].strip().startswith("In short\n\nDoes n-gram masking make spellers better")
    assert page.index("A protocol (P1) says") < page.index("(#protocols)") < page.index("| P1 |")
    gain = re.search(r"\((\S+)\)", row["SIGHAN13"])[1]
    assert float(gain) < 0
    assert row["Gain, mean of three"].startswith(f"{gain} (")
    # Two n-grams on three sets; chance would give a third of a comparison.
    assert "are 6 comparisons" in page
    assert "Chance alone gives about 0." in page


def test_n_grams_that_gain_are_listed_beside_the_paper_s(runs_folder, tmp_path):
    for seed in range(2):
        write_run(runs_folder, "trigram", seed, right=5)
    (row,) = rows(page_of(tmp_path, read_runs(runs_folder)), "N-grams that gain")
    assert row["Speller"] == "NM-BERT"
    assert row["SIGHAN13"].startswith("right-bigram* +")
    assert row["SIGHAN13"].endswith("(left-bigram, right-bigram)")
    assert "trigram" not in row["SIGHAN13"]


def test_only_the_paper_s_start_of_the_masking_layer_is_set_beside_the_paper_s_n_grams(runs_folder, tmp_path):
    for seed in range(2):
        write_run(runs_folder, "trigram", seed, right=5)
        write_run(runs_folder, "trigram-identity", seed, right=25)
    page = page_of(tmp_path, read_runs(runs_folder))
    (row,) = rows(page, "N-grams that gain")
    assert "identity" not in row["SIGHAN13"]
    (row,) = (row for row in rows(page, "SIGHAN13") if row["n-gram"] == "trigram-identity")
    assert row["Speller"] == "NM-BERT*"
    assert float(row["Δ"].split()[0]) > 0


def test_new_runs_are_added_and_those_of_the_same_name_replaced(runs_folder, tmp_path):
    path = tmp_path / "results.json"
    add_results(path, read_runs(runs_folder))
    (runs_folder / "bert-none-1.json").unlink()
    write_run(runs_folder, "none", 0, right=30)
    write_run(runs_folder, "none", 9, right=3)
    together = {run.name: run for run in add_results(path, read_runs(runs_folder))}
    assert len(together) == 6
    assert together["runs/bert-none-0"].figure("sighan13", "correction", "f1") == 100


def test_other_protocols_are_not_averaged(runs_folder):
    write_run(runs_folder, "none", 7, right=3, name="longer", config={"stages": []})
    groups = group_runs(read_runs(runs_folder))
    assert sorted(len(group.runs) for group in groups) == [1, 2, 3]


def test_an_option_that_is_newer_than_a_run_was_off(runs_folder):
    config = {"start": "backbone", "stages": [{**RECIPE, "newer": False}]}
    write_run(runs_folder, "none", 7, right=3, config=config)
    assert sorted(len(group.runs) for group in group_runs(read_runs(runs_folder))) == [3, 3]
    config["stages"][0]["newer"] = True
    write_run(runs_folder, "none", 7, right=3, config=config)
    assert sorted(len(group.runs) for group in group_runs(read_runs(runs_folder))) == [1, 2, 3]


def test_what_wang_is_worth_is_a_gain_over_the_training_without_it(runs_folder, tmp_path):
    for number, recipe in enumerate(paper.LEAK_RECIPES):
        config = {"recipe": recipe, "stages": [RECIPE] if number else []}
        write_run(runs_folder, "none", 0, right=10 + 6 * number, name=recipe, config=config)
    first, second, third = rows(page_of(tmp_path, read_runs(runs_folder)), "What Wang271K is worth")
    assert first["Wang271K"] == "not used"
    assert "(" not in first["SIGHAN13"]
    gains = [float(re.search(r"\((\S+),", row["SIGHAN13"])[1]) for row in (second, third)]
    assert 0 < gains[0] < gains[1]


def test_the_same_run_under_two_names_is_an_error(runs_folder):
    write_run(runs_folder, "none", 0, right=3, name="again")
    with pytest.raises(InputError, match="again"):
        group_runs(read_runs(runs_folder))


def test_one_seed_has_no_deviation():
    assert tables.spread([]) == "–"
    assert tables.spread([50.0]) == "50.00"
    assert tables.spread([50.0, 52.0]) == "51.00 ± 1.41"


@pytest.mark.slow
def test_the_pages_in_the_docs_are_written_from_their_figures():
    groups = group_runs(results_file.read_results(PAGES / "data" / "results.json"))
    assert (PAGES / "results.md").read_text(encoding="utf-8") == results_page(groups)
    answers = results_file.read_cases(PAGES / "data" / "cases.json")
    assert (PAGES / "cases.md").read_text(encoding="utf-8") == cases_page(answers)
    assert (PAGES / "data" / "results.json").stat().st_size < 1_200_000


def test_a_missing_or_damaged_results_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match="there is no"):
        write_pages(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "results.json").write_text('{"runs": [{}]}')
    with pytest.raises(InputError, match="not a results file"):
        write_pages(tmp_path)


def test_damaged_or_absent_runs_are_reported(tmp_path):
    with pytest.raises(InputError, match="no runs"):
        read_runs(tmp_path)
    (tmp_path / "other.json").write_text('{"loss": 1}')
    with pytest.raises(InputError, match="no runs"):
        read_runs(tmp_path)
    (tmp_path / "half.json").write_text('{"outcomes": {}, "edits": {}, "name": "half"}')
    with pytest.raises(InputError, match=r"half\.json has no model"):
        read_runs(tmp_path)
    (tmp_path / "broken.json").write_text('{"outcomes": ')
    with pytest.raises(InputError, match=r"broken\.json cannot be read"):
        read_runs(tmp_path)


SETTING = {"recipe": "paper_setting", "start": "masked_only", "settings": {"head": "linear"}}


def run_in_the_paper_s_setting(ngram, active, seed, right):
    """A run whose F1 grows from epoch to epoch; `right` of 40 erroneous sentences are corrected at last."""
    sets = (outcomes.DEV, *outcomes.PAPER_SETS)
    by_epoch = [right * epoch // 3 for epoch in (1, 2, 3)]
    stage = {**RECIPE, "copies": {"wang": 1, "wang_synthetic": 1}, "epochs": 10, "batch_sentences": 32}
    return results_file.TrainingRun(
        name=f"paper_setting/bert-{ngram}-{seed}-{active}",
        model="bert",
        ngram=ngram,
        active=active,
        seed=seed,
        config={**SETTING, "stages": [stage]},
        data_hashes={},
        seconds=1.0,
        outcomes=dict.fromkeys(sets, "c" * right + "m" * (40 - right) + "-" * 40),
        counts={},
        fates={
            "sighan13": {"alone copied": 3, "alone corrected": 5},
            "sighan14": {"beside copied": 1, "beside corrected": 1},
        },
        epochs=[{key: {"c": count, "m": 40 - count} for key in sets} for count in by_epoch],
    )


@pytest.fixture
def in_the_paper_s_setting():
    return [
        run_in_the_paper_s_setting(ngram, active, seed, right + seed)
        for seed in range(3)
        for ngram, active, right in (
            ("none", "", 18),
            ("right-bigram", "always", 12),
            ("trigram", "always", 21),
            ("trigram", "training", 18),
        )
    ]


def test_copied_errors_are_those_beside_another_error_too(in_the_paper_s_setting):
    groups = sorted(group_runs(in_the_paper_s_setting), key=tables.rank)
    letters = dict.fromkeys((group.protocol for group in groups), "P1")
    plain = tables.fates_table(groups, letters).splitlines()[2]
    assert plain.endswith("| 40.00 | 60.00 | 50.00 | 50.00 |")  # of 10 errors, of which 2 are beside another


@pytest.mark.slow
def test_the_paper_s_setting_has_a_section_of_its_own(in_the_paper_s_setting, runs_folder, tmp_path):
    path = tmp_path / "data" / "results.json"
    add_results(path, [*in_the_paper_s_setting, *read_runs(runs_folder)])
    results_file.add_cases(tmp_path / "data" / "cases.json", runs_folder)
    write_pages(tmp_path)
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    short = page.split("## ")[1]
    assert "**In the paper's own setting**" in short
    assert "chosen on dev, trigram, differs by +" in short
    assert "40.00 % are copied with masking and 40.00 % without" in short
    assert "its mean is +" in short
    assert "over epochs 1 to 1 and +" in short
    section = page.split("## The paper's own setting\n")[1].split("\n## ")[0]
    tables = [part for part in section.split("\n\n") if part.startswith("|")]
    assert len(tables) == 3
    plain, bigram, trigram, starred = tables[0].splitlines()[2:]
    assert plain.endswith("| 40.00 | 50.00 |")  # 4 of 10 copied; 1 of the 2 beside another error corrected
    assert plain.startswith("| BERT | none | 0, 1, 2 | 64.")
    assert "-" in bigram.split("|")[7]
    assert re.search(r"\+\d\.\d\d \(\S+ to \S+\), p 0\.\d{3}", trigram)
    assert "NM-BERT* | trigram" in starred
    assert "| SIGHAN14 | trigram +" in tables[1]
    assert [line.split("|")[1].strip() for line in tables[2].splitlines()[2:]] == ["1", "2", "3"]
    for name in re.findall(r"!\[.*\]\((.*)\)", section):
        assert (tmp_path / name).stat().st_size > 5_000
    (protocol,) = (row for row in rows(page, "Protocols") if "32 sentences" in row["Learns from"])
    assert "synthetic pairs, the same in each epoch" in protocol["Learns from"]
    assert protocol["Wang271K"] == "its pairs; synthetic errors as frequent as its errors"


def test_without_its_runs_the_paper_s_setting_is_not_mentioned(
    page, runs_folder, tmp_path, in_the_paper_s_setting
):
    assert "own setting" not in page
    # Nor where only BERT was trained: there is nothing to compare it with.
    alone = [run for run in in_the_paper_s_setting if run.ngram == "none"]
    assert "## The paper's own setting" not in page_of(tmp_path, [*read_runs(runs_folder), *alone])
